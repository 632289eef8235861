"""What the methods card and the data card are made of, apart from the page's templates: its style is none of theirs."""
