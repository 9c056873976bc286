"""Hours on a real YARN under random jobs and faults: `scripts/soak`. docs/soak.md."""
