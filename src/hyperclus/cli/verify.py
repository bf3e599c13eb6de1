"""The command `verify`, which checks a certificate against the data."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli.app import Messages, command
from hyperclus.cli.inputs import Source
from hyperclus.cli.options import Json, argument
from hyperclus.cli.output import print_json
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import facts, show, title
from hyperclus.errors import HyperclusError
from hyperclus.report.format import percent
from hyperclus.verification.certificate import read_certificate
from hyperclus.verification.verify import Verdict

CLAIMS = ("k", "alpha", "bound", "ncut", "gap", "method", "failure", "version")  # in JSON
FOUND = ("verified", "refusals", "bound", "ncut", "gap", "method")


@dataclass(frozen=True, slots=True)
class GivenCertificate:
    """A certificate to check."""

    certificate: Path = argument(
        "Certificate to check, as --certificate of `hyperclus cluster` writes it.", "CERTIFICATE"
    )


@command(
    "hyperclus cluster table.csv -k 3 --id name --bound tight --certificate x.cert",
    "hyperclus verify x.cert table.csv --id name",
    "hyperclus verify x.cert table.csv --id name --json",
)
def verify(*, given: GivenCertificate, source: Source, as_json: Json = False, messages: Messages) -> None:
    """Check the certificate of a proven bound; needs python-flint.

    FILE has the data, and is read with the same options as by `hyperclus
    cluster`. Everything is computed again from the definitions, in ball
    arithmetic or with proven rounding errors, by code that shares nothing with
    the solvers. The exit code is 0 if all claims are proven, and 1 if the
    certificate is refused.
    """
    certificate = read_certificate(given.certificate)
    resolved = source.resolve()
    with messages.from_library(), progress(messages):
        verdict = hyperclus.verify(certificate, resolved.read(messages))
    if as_json:
        print_json(_record(verdict))
    elif verdict.verified:
        _show(verdict, given.certificate)
    if not verdict.verified:
        reasons = "; ".join(verdict.refusals)
        raise HyperclusError(f"{printable(given.certificate)}: the certificate is refused: {reasons}")


def _record(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON."""
    claimed = {name: getattr(verdict.certificate, name) for name in CLAIMS}
    found = {name: getattr(verdict, name) for name in FOUND}
    return {**found, "stationary": asdict(verdict.stationary), "claimed": claimed}


def _show(verdict: Verdict, path: Path) -> None:
    """Print what was verified, and how."""
    certificate, k = verdict.certificate, verdict.certificate.k
    clusters = f"no {k} clusters have" if k > 1 else "one cluster cannot have"
    gap = f" (gap {percent(verdict.gap)})" if verdict.bound > 0 else ""
    figures = {
        "NCut": f"{verdict.ncut[1]:.9g}",
        "proven": f"{clusters} less than {verdict.bound:.9g}{gap}",
        "phi": _stationary(verdict),
        "proof": f"{certificate.method}; checked by: {verdict.method}",
    }
    if certificate.failure:
        chance = f"{certificate.failure:.0e}"
        figures["solver"] = f"could have missed an eigenvalue with probability {chance}; the proof does not"
    show(title(f"{printable(path)}: verified"), facts(figures.items()))


def _stationary(verdict: Verdict) -> str:
    """What is proven of the stationary distribution."""
    known = verdict.stationary
    if known.source == "given":
        changed = f"a step of the walk changes it by {known.residual:.1e}"
        return f"taken as given, and all figures are for it; {changed}"
    return f"exact to {max(known.factor - 1, 0):.1e}, relative, at each vertex ({known.source})"
