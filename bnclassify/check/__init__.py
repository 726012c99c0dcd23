"""What is odd about data, and what to do: `check_data`, and the warnings that learners issue."""
