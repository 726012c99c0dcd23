"""Methods that weight features: MANB, AWNB, WANBIA."""
