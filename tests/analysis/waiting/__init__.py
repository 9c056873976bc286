"""Tests of heddle.analysis.waiting."""
