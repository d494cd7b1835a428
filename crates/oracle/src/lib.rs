//! Brute force: every model by definition, and random histories to try engines on.
