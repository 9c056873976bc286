"""The reference simulator: docs/semantics.md in plain Python, slow and obvious, written without sight of the engine."""

from .simulator import simulate
from .trace import Attempt, Observation, Policy, Running, Trace

__all__ = ["Attempt", "Observation", "Policy", "Running", "Trace", "simulate"]
