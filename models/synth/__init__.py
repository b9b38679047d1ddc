"""Shared parts of the training recipes: synthetic voices, noises, augmentation, the network, and its export."""
