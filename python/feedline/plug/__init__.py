"""Plugs: feedline in the place of the loaders of trainers that exist.

Each module is for one trainer, and is imported by its name: `feedline.plug.torchvision`, `feedline.plug.timm`,
`feedline.plug.ultralytics`, `feedline.plug.lightning`, `feedline.plug.transformers`, `feedline.plug.accelerate`,
`feedline.plug.keras`, `feedline.plug.tensorflow`, `feedline.plug.jax`, `feedline.plug.torchdata`, `feedline.plug.ray`. They import
torch or what they are named after; feedline itself does not.
"""
