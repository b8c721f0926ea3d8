"""The version, in one place; pyproject.toml reads it."""

VERSION = "0.2.0"
