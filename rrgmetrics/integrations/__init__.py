"""Integrations with evaluation harnesses: one module each, each with its own pip extra."""
