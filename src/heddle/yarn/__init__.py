"""A live YARN: a REST client, snapshots, the view made of them, and the controller that runs the same levers on it."""
