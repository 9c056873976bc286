"""Tests of heddle.analysis.trace_contents."""
