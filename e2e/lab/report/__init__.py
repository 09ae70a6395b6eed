"""Makes tables, hypotheses, plots and files of what the laboratory has recorded."""
