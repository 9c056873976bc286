"""How sure a number is: intervals, and what they are intervals over."""
