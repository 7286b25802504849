"""Components that find mentions, and the tokenizer that they are trained with."""
