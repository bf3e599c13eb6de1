"""The colours of clusters: distances for every kind of sight, contrast, and marks."""

import re
from importlib import resources

import numpy as np
import pytest

from hyperclus.report import colours
from support.colours import channels, contrast, linear, oklab

SIGHTS = {  # on linear RGB, of people without one kind of cones (Machado et al., 2009)
    "normal": np.eye(3),
    "no green": np.array([[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "no red": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "no blue": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
LEAST = {"light": {"normal": 0.1, "others": 0.065}, "dark": {"normal": 0.125, "others": 0.085}}  # in Oklab
FROM_GREY = 0.05
PALETTES = {"light": colours.LIGHT, "dark": colours.DARK}
GREYS = {"light": colours.NONE_LIGHT, "dark": colours.NONE_DARK}
CSS = (resources.files("hyperclus.report.html") / "page.css").read_text(encoding="utf-8")


def distances(palette, sight):
    """The distance in Oklab of each pair, as someone sees them."""
    seen = np.array([linear(channels(one)) for one in palette]) @ SIGHTS[sight].T
    places = oklab(np.clip(seen, 0, 1))
    return np.linalg.norm(places[:, None] - places, axis=2)


def variables(theme):
    """The variables of page.css in a theme."""
    block = re.search(rf"color-scheme: {theme};(.*?)}}", CSS, re.DOTALL)[1]
    return dict(re.findall(r"--([\w-]+): (#\w{6});", block))


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", PALETTES)
def test_all_pairs_can_be_distinguished(theme, sight):
    found = distances([*PALETTES[theme], GREYS[theme]], sight)
    among, grey = found[:10, :10][np.triu_indices(10, 1)], found[10, :10]
    assert among.min() > LEAST[theme]["normal" if sight == "normal" else "others"]
    assert grey.min() > FROM_GREY


def test_a_simulation_would_find_colours_that_look_alike():
    """Red and green of the same lightness, which people without green cones confuse."""
    assert distances(["#b05a3c", "#7b7a2e"], "normal")[0, 1] > 0.1
    assert distances(["#b05a3c", "#7b7a2e"], "no green")[0, 1] < LEAST["light"]["others"]


@pytest.mark.parametrize("theme", PALETTES)
def test_graphics_and_text_have_contrast(theme):
    found = variables(theme)
    backgrounds = [found["page"], found["card"], found["wash"]] + ["#ffffff"] * (theme == "light")
    for background in backgrounds:
        for one in (*PALETTES[theme], GREYS[theme]):
            assert contrast(one, background) >= 3, (one, background)
        for name in ("ink", "soft", "focus"):
            assert contrast(found[name], background) >= 4.5, (name, background)


def test_thirty_clusters_look_different():
    looks = {(colours.colour(c), colours.shape(c)) for c in range(colours.DISTINCT)}
    assert len(looks) == colours.DISTINCT == 30
    assert colours.colour(30) == colours.colour(0)
    assert colours.shape(30) == colours.shape(0)
    assert len(colours.SHAPES) == len(colours.MARKERS) == len(colours.SIGNS) == len(colours.BADGES)
    assert not {colours.colour(-1), colours.colour(-1, dark=True)} & {*colours.LIGHT, *colours.DARK}


def test_the_style_has_every_colour_once_per_theme_and_page_css_none():
    style = colours.style()
    for number, (light, dark) in enumerate(zip(colours.LIGHT, colours.DARK, strict=True)):
        assert re.findall(rf"--c{number}: (#\w+);", style) == [light, dark, dark]
    assert re.findall(r"--none: (#\w+);", style) == [colours.NONE_LIGHT, colours.NONE_DARK, colours.NONE_DARK]
    assert re.findall(r"(?m)^\.c(\d+) ", style) == [str(c) for c in range(30)]
    assert "--c0:" not in CSS


@pytest.mark.parametrize("theme", PALETTES)
def test_the_styles_for_plots_have_the_colours_of_the_clusters(theme):
    style = pytest.importorskip("matplotlib.style")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with style.context(f"hyperclus.{theme}"):
        assert tuple(pyplot.rcParams["axes.prop_cycle"].by_key()["color"]) == PALETTES[theme]
        page = pytest.importorskip("matplotlib.colors").to_rgb(pyplot.rcParams["axes.facecolor"])
        assert colours.is_dark(*page) == (theme == "dark")
