"""What the protocols of judges share: prompts in files, replies in JSON, counts of errors by category."""
