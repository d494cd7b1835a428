//! Parse.
