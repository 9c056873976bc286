"""Tests of heddle.analysis.comparison."""
