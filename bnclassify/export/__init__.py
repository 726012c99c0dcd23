"""A model as SQL, as a page, and as an object of another library."""
