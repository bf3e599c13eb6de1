"""Where the raw files come from, and what they must be, byte for byte."""

from dataclasses import dataclass

_SITE = "https://archive.ics.uci.edu"  # tests put a server of their own here


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of UCI's: its name, its largest size in bytes, and the sha256 of each known version."""

    name: str
    size: int
    sha256: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set of the UCI Machine Learning Repository.

    Attributes
    ----------
    title, citation, licence : str
        To be named wherever the data are used.
    notice : str
        A copyright notice to be kept with the data; empty for most.
    number, slug : int, str
        UCI's own names for it.
    files : tuple of RawFile
        The files that are needed out of its zip.
    """

    title: str
    citation: str
    number: int
    slug: str
    files: tuple[RawFile, ...]
    licence: str = "CC BY 4.0"
    notice: str = ""

    @property
    def address(self) -> str:
        """The page of the data set.

        >>> SOURCES["zoo"].address
        'https://archive.ics.uci.edu/dataset/111/zoo'
        """
        return f"{_SITE}/dataset/{self.number}/{self.slug}"

    @property
    def archive(self) -> str:
        """The zip file that holds its files.

        >>> SOURCES["zoo"].archive
        'https://archive.ics.uci.edu/static/public/111/zoo.zip'
        """
        return f"{_SITE}/static/public/{self.number}/{self.slug}.zip"


SOURCES = {
    "mushroom": Source(
        title="Mushroom",
        citation="Mushroom [Dataset]. (1981). UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5959T",
        number=73,
        slug="mushroom",
        files=(
            RawFile(
                "agaricus-lepiota.data",
                373704,
                ("e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",),
            ),
        ),
    ),
    "rice": Source(
        title="Rice (Cammeo and Osmancik)",
        citation="Cinar, I. & Koklu, M. (2019). Rice (Cammeo and Osmancik) [Dataset]. "
        "UCI Machine Learning Repository. https://doi.org/10.24432/C5MW4Z",
        number=545,
        slug="rice+cammeo+and+osmancik",
        files=(
            RawFile(
                "Rice_Cammeo_Osmancik.arff",
                431462,
                (  # the same lines; they end in LF or CRLF, the last one with or without
                    "1af97883100c89de2ea2972f7a28d428f4f1c14711a61defc0b0569e9eb65665",
                    "5475be95c1f908e6f4ac0e586ffa78a4291a691c5b444a10a9cda019ddc7ec86",
                    "d8eb3979bd34267ed8fec883c8efcdd231101d178c7992ab9d2023814979691d",
                    "e701cba6482a928cbe5702f3e3d755189146497272e20fff2a484d55d254790f",
                ),
            ),
        ),
    ),
    "car": Source(
        title="Car Evaluation",
        citation="Bohanec, M. (1988). Car Evaluation [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5JP48",
        number=19,
        slug="car+evaluation",
        files=(
            RawFile(
                "car.data",
                51867,
                ("b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83",),
            ),
        ),
    ),
    "digit": Source(
        title="Optical Recognition of Handwritten Digits",
        citation="Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits [Dataset]. "
        "UCI Machine Learning Repository. https://doi.org/10.24432/C50P49",
        number=80,
        slug="optical+recognition+of+handwritten+digits",
        files=(
            RawFile(
                "optdigits.tra",
                563639,
                ("e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",),
            ),
            RawFile(
                "optdigits.tes",
                264712,
                ("6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",),
            ),
        ),
    ),
    "covertype": Source(
        title="Covertype",
        citation="Blackard, J. (1998). Covertype [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C50K5N",
        number=31,
        slug="covertype",
        files=(
            RawFile(
                "covtype.data",
                75169317,
                ("0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",),
            ),
        ),
        notice="Reuse of this database is unlimited with retention of copyright notice for "
        "Jock A. Blackard and Colorado State University.",
    ),
    "zoo": Source(
        title="Zoo",
        citation="Forsyth, R. (1990). Zoo [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5R59V",
        number=111,
        slug="zoo",
        files=(
            RawFile(
                "zoo.data",
                4126,
                ("cddc71c26ab9bc82795b8f4ff114cade41885d92720c6af29ffb69bcf73f0315",),
            ),
        ),
    ),
    "wine": Source(
        title="Wine Quality",
        citation="Cortez, P., Cerdeira, A., Almeida, F., Matos, T. & Reis, J. (2009). Wine Quality "
        "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C56S3T",
        number=186,
        slug="wine+quality",
        files=(
            RawFile(
                "winequality-red.csv",
                84199,
                ("4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",),
            ),
            RawFile(
                "winequality-white.csv",
                264426,
                ("76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",),
            ),
        ),
    ),
    "letter": Source(
        title="Letter Recognition",
        citation="Slate, D. (1991). Letter Recognition [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5ZP40",
        number=59,
        slug="letter+recognition",
        files=(
            RawFile(
                "letter-recognition.data",
                712565,
                ("2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",),
            ),
        ),
    ),
}
