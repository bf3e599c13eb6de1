"""Tell handwritten twos from fours without being told what a two is.

A vertex is an image, a hyperedge is a pixel, and gamma is the ink that the image has there. The
images come with scikit-learn. Run it with `make demo`.
"""

import numpy as np
from sklearn.datasets import load_digits

import hyperclus as hc

SHADES = " .:-=+*#%@"


def load() -> tuple[np.ndarray, np.ndarray]:
    """The images of twos and fours, one per row, and what they show."""
    digits = load_digits()
    chosen = np.isin(digits.target, (2, 4))
    return digits.data[chosen], digits.target[chosen]


def drawn(ink: np.ndarray) -> list[str]:
    """An 8 x 8 image as eight lines of text."""
    levels = (ink.reshape(8, 8) / ink.max() * (len(SHADES) - 1)).round().astype(int)
    return ["".join(2 * SHADES[level] for level in row) for row in levels]


def main() -> None:
    """Cluster, and say what came out."""
    images, digits = load()
    h = hc.Hypergraph.from_incidence(images, empty_edges="drop")
    part = hc.cluster(h, k=2)

    print(f"{h.n_vertices} images of handwritten digits, {h.n_edges} pixels, {h.n_incidences:,} dots of ink")
    print("vertex = image, hyperedge = pixel, weight of an image in a pixel = its ink\n")
    print(part, "\n")

    shown = [np.bincount(digits[part.labels == cluster], minlength=10)[[2, 4]] for cluster in range(2)]
    names = [(2, 4)[int(np.argmax(counts))] for counts in shown]
    pictures = [drawn(images[part.labels == cluster].mean(axis=0)) for cluster in range(2)]
    print("the mean image of cluster 0      the mean image of cluster 1")
    for left, right in zip(*pictures, strict=True):
        print(f"    {left}                 {right}")
    print("\nhidden from the method until now, the digits:   twos  fours")
    for cluster, (twos, fours) in enumerate(shown):
        print(f"  cluster {cluster} (mostly {names[cluster]}s)                         {twos:>4}  {fours:>5}")
    right = sum(int(counts.max()) for counts in shown)
    milliseconds = 1000 * sum(part.timings.values())
    print(f"\n{right} of {len(digits)} images ({right / len(digits):.1%}) are with their own kind.")
    print(f"Found in {milliseconds:.0f} ms. No way to cut this hypergraph in two has an NCut below")
    print(f"{part.lower_bound:.4f}; this cut has {part.ncut:.4f}, at most {part.gap:.1%} above the optimum.")
    print("That is proven, not estimated.")


if __name__ == "__main__":
    main()
