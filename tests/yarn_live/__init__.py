"""The live half of the first slice: the levers of the simulator against a fake ResourceManager over HTTP."""
