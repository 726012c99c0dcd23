"""Networks and parameters beyond R: hill climbing, EM, weights, back-off, latent classes."""
