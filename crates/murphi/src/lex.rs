//! Lex.
