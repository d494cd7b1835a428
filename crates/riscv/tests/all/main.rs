//! Tests of the decoder.

mod encodings;
mod text;
