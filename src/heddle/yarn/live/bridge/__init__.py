"""The bridge as seen from outside: tables of what is wanted, and the endpoint inside the ResourceManager."""
