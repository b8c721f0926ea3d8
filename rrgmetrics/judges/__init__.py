"""LLM judges: engines (who answers), and what the protocols of the metrics share (prompts, replies, counts)."""
