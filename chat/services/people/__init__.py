"""People: how they come in, and how they leave."""
