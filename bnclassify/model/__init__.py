"""The values that learners return, and the questions one can ask of them."""
