//! Models in the style of generated directories.

pub(crate) mod model;
