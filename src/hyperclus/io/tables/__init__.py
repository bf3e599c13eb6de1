"""Tables in files: one incidence per row, or one vertex per row."""
