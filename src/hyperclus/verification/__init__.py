"""The checker of certificates: a certificate and the data -> a verdict.

Nothing here imports the solvers, whose results it checks; the layers in `pyproject.toml` enforce that. The
names, formulas and sizes are those of docs/understand/certificate.md.
"""
