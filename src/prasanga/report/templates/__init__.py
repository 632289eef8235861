"""The page's templates and style: a package of their own, so that an edit of them rewrites the page alone."""
