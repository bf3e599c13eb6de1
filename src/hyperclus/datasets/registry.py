"""Sources, licences and checksums of the data sets, from `sources.json`."""

from dataclasses import dataclass, replace
from importlib import resources

import msgspec

_SITE = "https://archive.ics.uci.edu"


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of a data set: its name and the sha256 of each known version.

    Versions of one file differ only in their line ends.
    """

    name: str
    sha256: tuple[str, ...]
    excerpt: str = ""  # sha256 of the file in the package, where that has only the rows that are needed

    @property
    def packaged(self) -> "RawFile":
        """The file in the package."""
        return replace(self, sha256=(self.excerpt,)) if self.excerpt else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where data come from; title, citation, licence and notice belong with the data."""

    title: str
    description: str  # what vertices, hyperedges and classes are, and how the data were prepared
    citation: str
    files: tuple[RawFile, ...]  # of UCI, those that are needed from its zip file; otherwise in the package
    licence: str = "CC BY 4.0"
    notice: str = ""  # a copyright notice that must stay with the data
    page: str = ""  # of data that are not from UCI
    number: int = 0  # at UCI, as the slug
    slug: str = ""

    @property
    def address(self) -> str:
        """The page of the data set."""
        return self.page or f"{_SITE}/dataset/{self.number}/{self.slug}"

    @property
    def archive(self) -> str:
        """The address of its zip file at UCI; empty for data from elsewhere."""
        return "" if self.page else f"{_SITE}/static/public/{self.number}/{self.slug}.zip"


SOURCES = msgspec.json.decode(
    resources.files("hyperclus.datasets").joinpath("sources.json").read_bytes(), type=dict[str, Source]
)
