"""What a person asks of a model: its names, families and tables, what was learned, and facts in words."""
