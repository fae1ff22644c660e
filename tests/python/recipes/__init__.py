"""The built-in recipes, each beside the library that it comes from: see recipe_parity.py."""
