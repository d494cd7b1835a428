//! A memory protocol as data that can be changed and printed: rules with conjunctions as guards and
//! trees of statements as bodies.
//!
//! It prints in two ways. As the user writes it, the procedures that mark events are empty. For the
//! search by brute force they print the event, and the start state prints what memory holds.

use std::fmt::Write as _;

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Text without a semicolon.
    Plain(String),
    /// A condition and what happens if it holds.
    If(String, Vec<Statement>),
    /// A quantifier, such as `q: Proc`, and what happens for each.
    For(String, Vec<Statement>),
}

/// A rule for each of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<&'static str>,
    /// All of these must hold.
    pub(crate) guard: Vec<String>,
    pub(crate) body: Vec<Statement>,
}

/// How values are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Range,
    Enumeration,
    Scalarset,
}

/// What is in memory, and in caches if they are filled, at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The lowest value.
    Lowest,
    /// Any value, the same everywhere.
    Any,
    /// The highest value.
    Highest,
    /// Any value in memory, and any other in the copies.
    Unequal,
    /// Each address has any value, and its copies have the same.
    EachAddress,
}

/// A protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protocol {
    /// What it was before it was changed.
    pub(crate) shape: &'static str,
    pub(crate) processors: usize,
    pub(crate) addresses: usize,
    /// Whether processors and addresses are scalarsets.
    pub(crate) symmetric: bool,
    pub(crate) values: Values,
    pub(crate) value_count: usize,
    pub(crate) start: Start,
    /// Declarations of variables.
    pub(crate) variables: Vec<String>,
    /// What start states do besides setting `memory`; `first` is what copies hold.
    pub(crate) prepare: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    /// Whether it declares `Commit`.
    pub(crate) commits: bool,
    /// What was done to it.
    pub(crate) twists: Vec<&'static str>,
}

/// For whom a protocol is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// For `verify`: the marks are empty.
    Verify,
    /// For the search by brute force: the marks print.
    BruteForce,
}

pub(crate) fn plain(text: &str) -> Statement {
    Statement::Plain(text.to_owned())
}

impl Protocol {
    /// The protocol as a program with so many values.
    pub(crate) fn text(&self, reader: Reader, values: usize) -> String {
        let mut text = self.types(values);
        let _ = writeln!(text, "var memory: array [Addr] of Value;");
        for variable in &self.variables {
            let _ = writeln!(text, "  {variable};");
        }
        for mark in ["Load", "Store", "Commit"] {
            if mark != "Commit" || self.commits {
                text += &mark_text(mark, reader);
            }
        }
        text += &self.start_text(reader);
        for rule in &self.rules {
            text += &rule.text();
        }
        text
    }

    fn types(&self, values: usize) -> String {
        let set = |count: usize| match self.symmetric {
            true => format!("scalarset({count})"),
            false => format!("1..{count}"),
        };
        let value = match self.values {
            Values::Range => format!("0..{}", values - 1),
            Values::Scalarset => format!("scalarset({values})"),
            Values::Enumeration => {
                let members: Vec<String> = (0..values).map(|number| format!("v{number}")).collect();
                format!("enum {{{}}}", members.join(", "))
            }
        };
        let (processors, addresses) = (set(self.processors), set(self.addresses));
        format!("type Proc: {processors}; Addr: {addresses}; Value: {value};\n")
    }

    /// How the value with a number is written.
    pub(crate) fn literal(&self, number: usize) -> String {
        match self.values {
            Values::Enumeration => format!("v{number}"),
            _ => number.to_string(),
        }
    }

    fn start_text(&self, reader: Reader) -> String {
        let fixed = |value: String| {
            (String::new(), format!("for a: Addr do memory[a] := {value}; end;"), value)
        };
        let (parameters, memory, copies) = match self.start {
            Start::Lowest => fixed(self.literal(0)),
            Start::Highest => fixed(self.literal(self.value_count - 1)),
            Start::Any => ("v: Value".to_owned(), fixed("v".to_owned()).1, "v".to_owned()),
            Start::Unequal => {
                ("v: Value; w: Value".to_owned(), fixed("v".to_owned()).1, "w".to_owned())
            }
            Start::EachAddress => (
                "x: Addr; v: Value; w: Value".to_owned(),
                "for a: Addr do memory[a] := w; end; memory[x] := v;".to_owned(),
                "memory[a]".to_owned(),
            ),
        };
        let mut body = memory;
        for statement in &self.prepare {
            let _ = write!(body, " {}", statement.replace("$first", &copies));
        }
        if reader == Reader::BruteForce && self.start != Start::Unequal {
            body +=
                " for a: Addr do put \"init \"; put a; put \" \"; put memory[a]; put \"\\n\"; end;";
        }
        match parameters.is_empty() {
            true => format!("startstate begin {body} end;\n"),
            false => format!("ruleset {parameters} do startstate begin {body} end; end;\n"),
        }
    }

    /// Whether a text is anywhere in its rules.
    pub(crate) fn mentions(&self, what: &str) -> bool {
        self.rules.iter().any(|rule| rule.text().contains(what))
    }
}

fn mark_text(mark: &str, reader: Reader) -> String {
    let said = match reader {
        Reader::Verify => String::new(),
        Reader::BruteForce => {
            let word = mark.to_lowercase();
            format!("put \"{word} \"; put p; put \" \"; put a; put \" \"; put v; put \"\\n\"; ")
        }
    };
    format!("procedure {mark}(p: Proc; a: Addr; v: Value); begin {said}end;\n")
}

impl Rule {
    pub(crate) fn text(&self) -> String {
        let guard = match self.guard.is_empty() {
            true => "true".to_owned(),
            false => self.guard.join(" & "),
        };
        let body = statements(&self.body);
        let (name, parameters) = (self.name, self.parameters.join("; "));
        format!("ruleset {parameters} do rule \"{name}\" {guard} ==> begin {body}end; end;\n")
    }
}

fn statements(body: &[Statement]) -> String {
    let mut text = String::new();
    for statement in body {
        let _ = match statement {
            Statement::Plain(plain) => write!(text, "{plain}; "),
            Statement::If(condition, body) => {
                write!(text, "if {condition} then {}end; ", statements(body))
            }
            Statement::For(quantifier, body) => {
                write!(text, "for {quantifier} do {}end; ", statements(body))
            }
        };
    }
    text
}
