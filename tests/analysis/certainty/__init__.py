"""Tests of heddle.analysis.certainty."""
