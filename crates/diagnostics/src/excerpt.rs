//! A line of a text with some of its characters underlined: what every complaint about a text shows.

use std::fmt::Write as _;

/// A printable part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The part, one cell a character.
    pub text: String,
    /// Characters before the marked ones.
    pub indent: usize,
    /// How many are marked.
    pub marked: usize,
}

/// How the marked characters are underlined.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'a> {
    /// The sign below each.
    pub sign: char,
    /// What is said beside them.
    pub label: &'a str,
    /// Escape sequences before and after.
    pub colour: (&'a str, &'a str),
}

impl Excerpt {
    /// Draws the line of this number, its number in a margin of so many characters:
    ///
    /// ```
    /// use tribunal_diagnostics::excerpt::{Excerpt, Marks};
    ///
    /// let excerpt = Excerpt { text: "var x: bool;".into(), indent: 7, marked: 4 };
    /// let mut text = String::new();
    /// let marks = Marks { sign: '^', label: " here", colour: ("", "") };
    /// excerpt.draw(&mut text, 9, 2, marks);
    /// assert_eq!(text, "   |\n 9 | var x: bool;\n   |        ^^^^ here\n");
    /// ```
    pub fn draw(&self, text: &mut String, number: u64, margin: usize, marks: Marks<'_>) {
        let Marks { sign, label, colour: (colour, off) } = marks;
        let indent = " ".repeat(self.indent);
        let signs = sign.to_string().repeat(self.marked);
        let _ = writeln!(text, "{:margin$} |", "");
        let _ = writeln!(text, "{number:>margin$} | {}", self.text);
        let _ = writeln!(text, "{:margin$} | {indent}{colour}{signs}{label}{off}", "");
    }
}
