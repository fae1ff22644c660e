"""Plugs: feedline in the place of the loaders of trainers that exist.

Each module is for one trainer, and is imported by its name: `feedline.plug.torchvision`, `feedline.plug.timm`,
`feedline.plug.ultralytics`. They import torch; feedline itself does not.
"""
