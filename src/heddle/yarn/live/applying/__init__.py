"""One applier for both hosts: where knobs should stand, guards that judge it, a YARN, real or not, that takes it."""
