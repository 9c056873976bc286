"""Paper 3: admission control against the deadlock of application masters. Its 16 rounds, and a storm of bursts."""
