"""A model as SQL, as a page, and as an object of another library.

It imports `draw`, for the picture on a page, `files`, which write it, and `additive`, for cards.
"""
