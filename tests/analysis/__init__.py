"""Tests of heddle.analysis."""
