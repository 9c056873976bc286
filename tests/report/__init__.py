"""Tests of heddle.report."""
