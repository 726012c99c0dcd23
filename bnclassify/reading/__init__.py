"""What a person asks of a model: names, families, tables, what was learned, facts in words."""
