"""Sources and checksums of the raw files, from `sources.json`."""

from dataclasses import dataclass
from importlib import resources

import msgspec

_SITE = "https://archive.ics.uci.edu"


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of the UCI repository: its name and the sha256 of each known version.

    Versions of one file differ only in their line ends.
    """

    name: str
    sha256: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set of the UCI Machine Learning Repository; title, citation and licence belong with the data."""

    title: str
    citation: str
    number: int  # at UCI, as the slug
    slug: str
    files: tuple[RawFile, ...]  # those that are needed from its zip file
    licence: str = "CC BY 4.0"
    notice: str = ""  # a copyright notice that must stay with the data

    @property
    def address(self) -> str:
        """The page of the data set."""
        return f"{_SITE}/dataset/{self.number}/{self.slug}"

    @property
    def archive(self) -> str:
        """The address of its zip file."""
        return f"{_SITE}/static/public/{self.number}/{self.slug}.zip"


SOURCES = msgspec.json.decode(
    resources.files("hyperclus.research.datasets").joinpath("sources.json").read_bytes(),
    type=dict[str, Source],
)
