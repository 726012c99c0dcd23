"""Data sources, and the encoding of their columns as integer codes or numbers."""
