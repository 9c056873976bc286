"""A YARN that is steered: a REST client, snapshots, the view made of them, a controller with the same levers."""
