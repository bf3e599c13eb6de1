"""A local page on one file: choose, run, look, save.

`form` says what can be chosen, `worker` runs it in a child process, `pages` and `server` show it. What a run
does is given by the command line, which is above this package.
"""
