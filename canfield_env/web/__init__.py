"""The table in the browser (``canfield serve``): play, watch a player, replay the rows of an evaluation.

The page in ``static/`` holds no rule: ``server`` asks a ``Game`` for everything, and sends only what lies open.
Needs FastAPI and uvicorn: ``pip install "canfield-env[web]"``.
"""
