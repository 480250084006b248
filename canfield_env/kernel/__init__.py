"""The rules, compiled: one structured dtype and the functions over it. Nothing of the game is written twice."""
