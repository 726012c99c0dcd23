"""Model files, and conversion to objects and files of other libraries."""
