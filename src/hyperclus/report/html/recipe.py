"""How the same result comes about again: settings in words, and the lines of Python."""

from typing import Any

from hyperclus.clustering.partition import Partition

_OF_EVERY_CALL = ("alpha", "bound", "tolerance", "seed")
_USUAL = (("engine", "cpu"), ("precision", "float64"))  # what is used without asking


def python_lines(part: Partition) -> str | None:
    """The call that made the partition; None where a setting, such as a random generator, cannot be written.

    >>> from hyperclus import Hypergraph, cluster
    >>> part = cluster(Hypergraph.from_edges([["a", "b"], ["c", "d"]]), seed=7)
    >>> print(python_lines(part).splitlines()[-1][:46])
    part = hc.cluster(h, k=2, effort="default", mi
    """
    settings = {
        name: value
        for name, value in part.settings.items()
        if name != "fallbacks" and (name, value) not in _USUAL
    }
    if not all(value is None or isinstance(value, bool | int | float | str) for value in settings.values()):
        return None
    call = _call(settings)
    return None if call is None else f"import hyperclus as hc\n\nh = ...  # the hypergraph\npart = {call}"


def _call(settings: dict[str, Any]) -> str | None:
    method, k = settings.pop("method", None), settings.pop("k", None)
    if method in ("evaluate", "refine"):
        return _written(f"hc.{method}(h, labels", settings)
    if method in ("cluster", "hyperclus_g"):
        return _written(f"hc.{method}(h, k={k}", settings)
    own = {name: value for name, value in settings.items() if name not in _OF_EVERY_CALL[:3]}
    return _written(f"hc.research.baselines.{method}(h, {k}", own) if str(method).isidentifier() else None


def _written(start: str, settings: dict[str, Any]) -> str:
    return ", ".join([start, *(f"{name}={_literal(value)}" for name, value in settings.items())]) + ")"


def _literal(value: Any) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if isinstance(value, str) and '"' not in text else text
