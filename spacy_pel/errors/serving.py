"""The command serve: E720-E740."""


class ServingErrors:
    E720 = 'The command serve needs the extra "serve". Install it with: pip install "spacy-pel[serve]"'
    E721 = "Cannot listen on {host}, port {port}: {got}. Choose others with --host and --port."
    E723 = "The answer took longer than {seconds} seconds. Send fewer or shorter texts, or try again later."
    E724 = "The server is busy: {n} requests are waiting. Try again later."
    E725 = "The server is stopping. Try again later."
    E726 = "Expected a text of at most {most:,} characters, got {got:,} in {where}. Split it."
    E727 = "Expected at most {most:,} {what} in a request, got {got:,}. Send several requests."
    E728 = "Expected a body of at most {most:,} bytes. Send several requests."
    E729 = "Expected the header Content-Type: application/json, got {got}."
    E730 = "The host {got} is not served here. If it is a name of this machine, add: --allow-host NAME"
    E731 = "Requests from other sites are refused, got one from {got}."
    E732 = "Expected the whole request within {seconds} seconds. Send it faster, or less of it."
    E733 = "Expected {expected}, got {got}."
    E734 = "The knowledge base has no entity with the id {got}."
    E735 = "Another process changed the memory of the pipeline. Nothing was learned or undone; try again."
    E736 = "Expected an offset from 0 to {last}, and a mention that is not empty, got {start} to {end}."
    E737 = "Nothing is at {got}. The page / uses this server, and /docs describes it."
    E738 = "The server failed, which is a bug. Its log has the details."
    E739 = "This request does not fit: {got}. The page /docs describes each call."
    E740 = "Expected a body that is not compressed, got the header Content-Encoding: {got}. Send it uncompressed."
