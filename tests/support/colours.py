"""Luminance, contrast and perceptual distance of colours."""

import re

import numpy as np


def channels(colour):
    if colour.startswith("#"):
        return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]


def linear(rgb):
    share = np.array(rgb, dtype=float) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
    axes = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
    return np.cbrt(rgb @ cones.T) @ axes.T


def luminance(colour):
    rgb = channels(colour) if isinstance(colour, str) else colour
    return float(linear(rgb) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def blended(over, share, under):
    return [share * a + (1 - share) * b for a, b in zip(over, under, strict=True)]
