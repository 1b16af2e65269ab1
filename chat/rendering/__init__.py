"""The only code that makes HTML."""
