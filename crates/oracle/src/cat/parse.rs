//! Cat files read into trees, with a parser of its own: the engines' parser is among what is tested.
//!
//! A recursive descent over the grammar of docs/cat.md, for files that are known to be right; whatever
//! it does not know is an error with the number of the line. Each operand of a union keeps its place
//! in the text, so that `mutants` can leave it out.

use std::ops::Range;

/// A line of a file.
#[derive(Debug)]
pub(super) enum Line {
    Let { recursive: bool, bindings: Vec<Binding> },
    Axiom { name: String, test: Test, negated: bool, body: Tree, place: Range<usize> },
}

/// `name = body` or `name(parameters) = body`.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) parameters: Option<Vec<String>>,
    pub(super) body: Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    Acyclic,
    Irreflexive,
    Empty,
}

#[derive(Debug)]
pub(super) enum Tree {
    Name(String),
    Nothing,
    Everything,
    Identity(Box<Tree>),
    Unary(char, Box<Tree>),
    /// `|`, `;`, `\`, `&`, `*`.
    Binary(char, Box<Tree>, Box<Tree>),
    /// A union, each operand with its place in the text.
    Union(Vec<(Tree, Range<usize>)>),
    Call(String, Vec<Tree>),
    Let {
        recursive: bool,
        bindings: Vec<Binding>,
        body: Box<Tree>,
    },
}

/// The lines of a text that includes nothing.
pub(super) fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, functions: Vec::new() };
    while parser.is_text() || parser.is_name() {
        // The title.
        parser.at += 1;
    }
    let mut lines = Vec::new();
    while parser.at < parser.tokens.len() {
        lines.push(parser.line()?);
    }
    Ok(lines)
}

/// The text with each included file in place of its `include`, without the titles of those.
pub(super) fn flatten(text: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut flat = String::new();
    for line in text.lines() {
        match line.trim().strip_prefix("include ") {
            Some(name) => {
                let name = name.trim().trim_matches('"');
                let included = read(name).ok_or_else(|| format!("no file {name}"))?;
                let body = included.split_once('\n').map_or("", |(_, body)| body);
                flat.push_str(&flatten(body, read)?);
            }
            None => flat.push_str(line),
        }
        flat.push('\n');
    }
    Ok(flat)
}

/// The places of the tokens: names, texts, symbols. Comments are `(* … *)` without others inside.
fn tokens(text: &str) -> Result<Vec<Range<usize>>, String> {
    let bytes = text.as_bytes();
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("(*") {
            at += rest.find("*)").ok_or("a comment does not end")? + 2;
            continue;
        } else if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        } else if bytes[at] == b'"' {
            rest[1..].find('"').ok_or("a text does not end")? + 2
        } else if bytes[at].is_ascii_alphabetic() {
            bytes[at..].iter().take_while(|&&byte| is_inside(byte)).count()
        } else if rest.starts_with("^-1") {
            3
        } else {
            1
        };
        tokens.push(at..at + length);
        at += length;
    }
    Ok(tokens)
}

const KEYWORDS: [&str; 12] = [
    "let",
    "rec",
    "and",
    "in",
    "acyclic",
    "irreflexive",
    "empty",
    "as",
    "include",
    "show",
    "try",
    "with",
];

/// Functions that every model has.
const FUNCTIONS: [&str; 4] = ["domain", "range", "fencerel", "toid"];

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
    at: usize,
    functions: Vec<String>,
}

impl<'a> Parser<'a> {
    fn token(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |place| &self.text[place.clone()])
    }

    fn is_text(&self) -> bool {
        self.token().starts_with('"')
    }

    fn is_name(&self) -> bool {
        let token = self.token();
        token.starts_with(|first: char| first.is_ascii_alphabetic()) && !KEYWORDS.contains(&token)
    }

    fn wrong(&self, expected: &str) -> String {
        let start = self.tokens.get(self.at).map_or(self.text.len(), |place| place.start);
        let line = 1 + self.text[..start].matches('\n').count();
        format!("line {line}: expected {expected}, found `{}`", self.token())
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.token() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(token)) }
    }

    fn name(&mut self) -> Result<String, String> {
        if !self.is_name() {
            return Err(self.wrong("a name"));
        }
        self.at += 1;
        Ok(self.text[self.tokens[self.at - 1].clone()].to_owned())
    }

    fn line(&mut self) -> Result<Line, String> {
        if self.take("let") {
            let (recursive, bindings) = self.bindings()?;
            return Ok(Line::Let { recursive, bindings });
        }
        let start = self.tokens[self.at].start;
        let negated = self.take("~");
        let test = match self.token() {
            "acyclic" => Test::Acyclic,
            "irreflexive" => Test::Irreflexive,
            "empty" => Test::Empty,
            _ => return Err(self.wrong("a line")),
        };
        self.at += 1;
        let body = self.union()?;
        let name = if self.take("as") { self.name()? } else { format!("{test:?}") };
        let place = start..self.tokens[self.at - 1].end;
        Ok(Line::Axiom { name, test, negated, body, place })
    }

    fn bindings(&mut self) -> Result<(bool, Vec<Binding>), String> {
        let recursive = self.take("rec");
        let mut bindings = Vec::new();
        loop {
            let name = self.name()?;
            let parameters = self.take("(").then(|| self.parameters()).transpose()?;
            if parameters.is_some() {
                self.functions.push(name.clone());
            }
            self.expect("=")?;
            bindings.push(Binding { name, parameters, body: self.union()? });
            if !self.take("and") {
                return Ok((recursive, bindings));
            }
        }
    }

    fn parameters(&mut self) -> Result<Vec<String>, String> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        self.expect(")")?;
        Ok(names)
    }

    fn union(&mut self) -> Result<Tree, String> {
        let mut operands = Vec::new();
        loop {
            let start = self.tokens.get(self.at).map_or(self.text.len(), |place| place.start);
            let operand = self.chain(';', Self::difference)?;
            operands.push((operand, start..self.tokens[self.at - 1].end));
            if !self.take("|") {
                break;
            }
        }
        Ok(if operands.len() == 1 { operands.remove(0).0 } else { Tree::Union(operands) })
    }

    fn chain(
        &mut self,
        operator: char,
        operand: fn(&mut Self) -> Result<Tree, String>,
    ) -> Result<Tree, String> {
        let mut tree = operand(self)?;
        while self.take(operator.encode_utf8(&mut [0; 4])) {
            tree = Tree::Binary(operator, Box::new(tree), Box::new(operand(self)?));
        }
        Ok(tree)
    }

    fn difference(&mut self) -> Result<Tree, String> {
        self.chain('\\', |parser| parser.chain('&', |parser| parser.chain('*', Self::prefixed)))
    }

    fn prefixed(&mut self) -> Result<Tree, String> {
        if self.take("~") {
            return Ok(Tree::Unary('~', Box::new(self.prefixed()?)));
        }
        let mut tree = self.atom()?;
        loop {
            let operator = match self.token() {
                "^-1" => '-',
                "+" => '+',
                "?" => '?',
                // A star between two operands is a product.
                "*" if !self.an_operand_follows() => '*',
                _ => return Ok(tree),
            };
            self.at += 1;
            tree = Tree::Unary(operator, Box::new(tree));
        }
    }

    fn an_operand_follows(&mut self) -> bool {
        self.at += 1;
        let follows = self.is_name() || ["(", "[", "{", "_", "0"].contains(&self.token());
        self.at -= 1;
        follows
    }

    fn atom(&mut self) -> Result<Tree, String> {
        if self.take("(") {
            let tree = self.union()?;
            self.expect(")")?;
            Ok(tree)
        } else if self.take("[") {
            let tree = self.union()?;
            self.expect("]")?;
            Ok(Tree::Identity(Box::new(tree)))
        } else if self.take("{") {
            self.expect("}")?;
            Ok(Tree::Nothing)
        } else if self.take("0") {
            Ok(Tree::Nothing)
        } else if self.take("_") {
            Ok(Tree::Everything)
        } else if self.take("let") {
            let (recursive, bindings) = self.bindings()?;
            self.expect("in")?;
            Ok(Tree::Let { recursive, bindings, body: Box::new(self.union()?) })
        } else {
            let name = self.name()?;
            if !self.functions.contains(&name) && !FUNCTIONS.contains(&name.as_str()) {
                return Ok(Tree::Name(name));
            }
            if !self.take("(") {
                return Ok(Tree::Call(name, vec![self.atom()?]));
            }
            let mut arguments = vec![self.union()?];
            while self.take(",") {
                arguments.push(self.union()?);
            }
            self.expect(")")?;
            Ok(Tree::Call(name, arguments))
        }
    }
}
