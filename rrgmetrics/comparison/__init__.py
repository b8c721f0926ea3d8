"""Systems against each other on the same studies."""
