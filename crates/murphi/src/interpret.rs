//! Interpret.
