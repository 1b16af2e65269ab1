"""Pages of the web for a model: fetched from public addresses only, and made into text."""
