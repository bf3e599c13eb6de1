"""Settings of the test run."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):  # the same examples every time; elsewhere they are drawn anew
    settings.load_profile("ci")
