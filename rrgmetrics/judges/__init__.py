"""LLM judges: protocols (what is asked, and how replies become a verdict) × engines (who answers)."""
