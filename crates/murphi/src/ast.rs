//! Ast.
