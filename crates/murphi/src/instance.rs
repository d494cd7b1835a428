//! Instance.
