"""Files of models, of this package and of other programs."""
