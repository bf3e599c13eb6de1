"""What the tests share: oracles, strategies, contracts, stand-ins."""
