"""The base class of models, accessors, and recipes."""
