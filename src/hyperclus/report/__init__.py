"""From a partition to what people see: views, text, notebook, plots and the HTML page."""
