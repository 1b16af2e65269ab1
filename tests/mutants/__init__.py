"""Faults that the tests must find; a program, and a test that its table still fits the tree."""
