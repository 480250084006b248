"""Players, training and evaluation that learn or search: run from a checkout, as in ``python -m agents.train``."""
