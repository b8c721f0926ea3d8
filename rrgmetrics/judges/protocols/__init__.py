"""One file per judge: pair → prompts, replies → verdict, the reader's comparison → the same kind of verdict."""
