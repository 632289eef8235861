"""Templates of the methods card and the data card, apart from those of the page: its style is none of theirs."""
