"""Generates tables, hypotheses, plots and files from the laboratory's records."""
