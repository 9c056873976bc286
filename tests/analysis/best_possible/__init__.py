"""Tests of heddle.analysis.best_possible."""
