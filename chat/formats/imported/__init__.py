"""Conversations of other programs → messages with parts.

A reader of a foreign form says, piece by piece, what is added (`updates`); `conversation` folds
that into messages, the same for all of them; `chats` finds out which form a file has.
"""
