"""The paper: its data sets, its competitors, and its tables."""
