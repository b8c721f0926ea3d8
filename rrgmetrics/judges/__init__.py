"""LLM judges: engines (the models that reply), and shared code of protocols (prompts, replies, counts)."""
