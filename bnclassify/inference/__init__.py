"""The log joint probability of rows and classes, from which every prediction and score follows."""
