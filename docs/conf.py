"""The documentation site: `make docs` builds it, without a network once the environment is installed."""

import sys
from pathlib import Path

import hyperclus

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "hyperclus"
author = "The hyperclus developers"
copyright = "The hyperclus developers"  # noqa: A001  # the name that Sphinx reads
version = release = hyperclus.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # in _ext
    "command_line",
    "names",
    "repository",
]

root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_templates", "**/*.py", "**/*.ipynb", "**/*.codeobj.json"]
nitpicky = True

# Pages in Markdown

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Names from docstrings

autosummary_generate = [str(page) for page in (Path(__file__).parent / "reference" / "api").glob("*.rst")]
autosummary_imported_members = True
autodoc_typehints = "none"
autosummary_filename_map = {  # that differ from others by more than capitals
    "hyperclus.datasets.Source": "hyperclus.datasets.Source-class",
    "hyperclus.research.paper.Plan": "hyperclus.research.paper.Plan-class",
}
default_role = "name"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False

# Examples, executed

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"/(?!_)[^/]*\.py$",
    "ignore_pattern": r"/_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/api/backreferences",
    "doc_module": ("hyperclus",),
    "abort_on_example_error": False,  # all failures are shown, and each is a warning, hence an error
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # its page loads scripts from other hosts
    "download_all_examples": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
}

# Appearance

html_theme = "pydata_sphinx_theme"
html_title = f"hyperclus {release}"
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
smartquotes = False  # which would change --options
toc_object_entries_show_parents = "hide"
html_static_path = ["_static"]
html_sidebars = {page: [] for page in ("faq", "index", "start")}  # which have no pages below them
html_css_files = ["hyperclus.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "hyperclus",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo-dark.svg",
    },
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,  # the others are under "More"
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
