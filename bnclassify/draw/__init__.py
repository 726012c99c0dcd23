"""Pictures of networks, effects and results.

It imports the annexes whose results it draws: `additive`, `explanations`, `judge`, `questions`.
"""
