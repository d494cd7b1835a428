//! Programs as text, in the spirit of the trace format: where a trace says what a read returned, a
//! program has a question mark.
//!
//! ```text
//! statement = "program" anything                        its name
//!           | "init" address "==" value                 what a place holds at first, else 0
//!           | "place" address "line" number "word" number
//!           | "threads" number                          where the last ones do nothing
//!           | thread ":" operation suffix*
//!           | "exists" observation ("," observation)*   the outcome the program is about
//!           | "end"                                     a file may hold many programs
//! operation = address ":=" value                        store
//!           | address "?"                               load
//!           | "<" address "?" ";" address ":=" value ">"          swap
//!           | "<" address "?" ";" address "+=" value ">"          fetch-and-add
//!           | "<" address "?" value ";" address ":=" value ">"    compare-and-swap
//!           | "sync" | "fence" kinds "," kinds
//! suffix    = "as" name | "dep" name ("," name)*
//! observation = name "==" value | address "==" value    (the address in brackets: `M[x]`)
//! ```
//!
//! A statement a line; `#` starts a comment. Addresses, numbers, names and kinds are those of
//! traces. Places lie in the order in which they are first mentioned, each alone in a cache line,
//! unless `place` says otherwise. What is printed reads as the same program.

mod parse;
mod print;
mod scan;

pub use parse::parse_programs;
