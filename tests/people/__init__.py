"""Accounts: how people come in, what they change, and how they go."""
