"""Tests of heddle.analysis.soundness."""
