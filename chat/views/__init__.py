"""Pages, and the plain forms that do without scripts what the socket does with them."""
