"""Steps that change texts before training or linking."""
