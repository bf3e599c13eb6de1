"""Tell handwritten twos from fours without being told what a two is: the Python behind `hyperclus demo`.

A vertex is an image, a hyperedge is a pixel, and gamma is the ink that the image has there. The
images come with scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_digits

import hyperclus as hc


def load() -> tuple[np.ndarray, np.ndarray]:
    """The images of twos and fours, one per row, and what they show."""
    digits = load_digits()
    chosen = np.isin(digits.target, (2, 4))
    return digits.data[chosen], digits.target[chosen]


if __name__ == "__main__":
    images, digits = load()
    h = hc.Hypergraph.from_incidence(images, empty_edges="drop")
    part = hc.cluster(h, k=2)
    print(part)
    print(hc.agreement(digits, part.labels))  # the digits were hidden from the method until now
