"""Settings of the test run."""

import os

from hypothesis import settings

# No deadline: a busy machine must not make a test fail. In CI the examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
