"""Who gets what, and where: requests, offers, reports, preemption."""
