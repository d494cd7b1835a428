//! Print.
