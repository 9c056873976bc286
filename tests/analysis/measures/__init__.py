"""Tests of heddle.analysis.measures."""
