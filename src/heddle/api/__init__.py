"""The Python interface: what `import heddle` offers, lazily, so that importing it costs nothing."""
