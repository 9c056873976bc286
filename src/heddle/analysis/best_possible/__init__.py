"""What no scheduler can beat: bounds, exact optima of small instances, and what theory lets one gain."""
