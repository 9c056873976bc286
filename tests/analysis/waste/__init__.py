"""Tests of heddle.analysis.waste."""
