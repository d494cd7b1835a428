//! Tests of the decoder.

mod encodings;
