"""Compile the kernels of hyperclus when the package is built; `python hatch_build.py` compiles them in place.

The library needs a C++ compiler, but neither Python nor the C++ runtime, so one wheel serves every version of
Python on a platform. Where there is no compiler, the one of the package `ziglang` is used, and also for the
wheel of another platform: HYPERCLUS_PLATFORM, one of PLATFORMS, chooses it. Links of README.md to files of
the repository become addresses.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
NATIVE = ROOT / "src" / "hyperclus" / "_native"
LIBRARY = NATIVE / "kernels.lib"
# Products are never fused with sums, so that all processors give the same bits.
FLAGS = """
-x c++ -std=c++17 -O3 -shared -fno-exceptions -fno-rtti -fvisibility-inlines-hidden
-ffp-contract=off -fno-math-errno -fno-trapping-math
"""
PLAIN = "-DHYPERCLUS_PLAIN"  # for compilers that cannot compile a function for several processors
ZIG = f"-m ziglang c++ -nostdlib++ -mcpu=baseline -s {PLAIN}"  # it would compile for this processor only
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")
PLATFORMS = {  # tag of the wheel: target of zig, with the oldest C library or system that can load it
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}


def chosen() -> str:
    """The platform that the wheel is for, if one is chosen, or an empty text."""
    platform = os.environ.get("HYPERCLUS_PLATFORM", "")
    if platform and platform not in PLATFORMS:
        sys.exit(f"HYPERCLUS_PLATFORM is {platform!r}; choose one of {', '.join(PLATFORMS)}, or unset it")
    return platform


def compiler() -> list[str] | None:
    """The command of a C++ compiler for this platform: $CXX or the usual ones."""
    if chosen():
        return None
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(command[0]):
            return command
    if named:
        sys.exit(
            f"hyperclus cannot be compiled: CXX is {named[0]!r}, which is not found; correct or unset it"
        )
    return None


def build() -> None:
    """Compile the library, with code for newer processors too if the compiler can do that."""
    command, platform = compiler(), chosen()
    if command is None and find_spec("ziglang") is None:
        sys.exit(
            "hyperclus cannot be compiled: there is no C++ compiler; install one, or 'pip install ziglang'"
        )
    windows = (platform or PLATFORM).startswith("win")
    options = [] if windows else ["-x", "none", "-lm", "-fPIC"]
    if platform:
        options += ["-target", PLATFORMS[platform]]
    with tempfile.TemporaryDirectory(dir=NATIVE) as folder:
        made = Path(folder) / LIBRARY.name
        # A chosen platform needs its own C library, compiled once and kept in the user's cache.
        caches = {} if platform else {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        call = [*(command or [sys.executable, *shlex.split(ZIG)]), *shlex.split(FLAGS)]
        call += [str(NATIVE / "library.cc"), "-o", str(made), *options]
        for attempt in (call, [*call, PLAIN]):
            done = subprocess.run(attempt, capture_output=True, text=True, env=os.environ | caches)
            if done.returncode == 0:
                made.replace(LIBRARY)
                return
        sys.exit(f"hyperclus cannot be compiled: {shlex.join(attempt)}\n{done.stderr}")


def with_addresses(text: str, source: str, version: str) -> str:
    """README.md for readers elsewhere: links and pictures of the repository get addresses at `source`.

    Without an address, of pictures nothing is left, and of links their text.
    """
    link, picture = r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", r"!\[([^\]]*)\]\((?!\w+:)([^)]+)\)"
    if not source:
        return re.sub(link, r"\1", re.sub(picture + r"\n*", "", text))
    base = source.rstrip("/")
    text = re.sub(picture, rf"![\1]({base}/raw/v{version}/\2)", text)
    return re.sub(link, rf"[\1]({base}/blob/v{version}/\2)", text)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # not needed to compile in place
    pass
else:

    class ReadmeHook(MetadataHookInterface):
        """Set the text that package indexes show."""

        PLUGIN_NAME = "custom"

        def update(self, metadata: dict[str, object]) -> None:
            """Render README.md with the address `Source` of project.urls."""
            urls = metadata.get("urls", {})
            text = with_addresses(
                (ROOT / "README.md").read_text(encoding="utf-8"),
                urls.get("Source", "") if isinstance(urls, dict) else "",
                str(metadata["version"]),
            )
            metadata["readme"] = {"content-type": "text/markdown", "text": text}

    class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
        """Compile the library before a wheel is built or the project is installed for development."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            """The compiler, where there is none."""
            return [] if compiler() else ["ziglang>=0.13"]

        def initialize(self, version: str, build_data: dict[str, object]) -> None:
            """Compile, and say that the wheel is for one platform and any Python 3."""
            build()
            build_data.update(pure_python=False, tag=f"py3-none-{chosen() or PLATFORM}")


if __name__ == "__main__":
    build()
