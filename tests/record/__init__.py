"""Tests of heddle.record."""
