"""`heddle yarn dashboard`: a live cluster and its controller on a local web page."""
