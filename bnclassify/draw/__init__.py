"""Pictures of networks, effects and results."""
