"""The report of a partition: one HTML file that needs no network. It renders; `portrait` has the figures."""

from hyperclus.report.page import write

__all__ = ["write"]
