//! Decides whether a shared memory keeps its promise.
