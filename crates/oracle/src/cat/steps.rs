//! A cat file as a list of steps, each of which computes one value from earlier ones, so that what
//! does not depend on the choices of an execution is computed once a history.
//!
//! Names are resolved and functions copied where they are called; nothing is simplified.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::parse::{Binding, Line, Test, Tree};

/// The number of a step.
pub(super) type At = usize;

/// How a value is computed.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A set or relation that the history fixes.
    Named(String),
    ReadsFrom,
    Coherence,
    Nothing,
    Everything,
    Identity(At),
    Domain(At),
    Unary(char, At),
    Binary(char, At, At),
    /// A name that `let rec` defines: nothing at first.
    Unknown,
    /// Goes back behind the unknowns with these values, until they change no more.
    Again {
        first: At,
        unknowns: Vec<(At, At)>,
    },
}

/// A condition.
#[derive(Debug, Clone)]
pub(super) struct Axiom {
    pub(super) name: String,
    pub(super) test: Test,
    pub(super) negated: bool,
    pub(super) at: At,
}

/// The steps of a file, and whether each depends on `rf` or `co`.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<(Step, bool)>,
    pub(super) axioms: Vec<Axiom>,
    /// The steps of names that no file defines.
    derived: BTreeMap<String, At>,
}

/// What a name stands for, innermost first.
struct Scope<'t> {
    name: &'t str,
    meaning: Meaning<'t>,
    outer: Names<'t>,
}

type Names<'t> = Option<Rc<Scope<'t>>>;

enum Meaning<'t> {
    Value(At),
    /// A function, called with the names that were there before it.
    Function(&'t Binding),
}

fn with<'t>(names: &Names<'t>, name: &'t str, meaning: Meaning<'t>) -> Names<'t> {
    Some(Rc::new(Scope { name, meaning, outer: names.clone() }))
}

impl Steps {
    pub(super) fn of(lines: &[Line]) -> Result<Self, String> {
        let mut steps = Steps::default();
        let mut names = None;
        for line in lines {
            match line {
                Line::Let { recursive, bindings } => {
                    names = steps.bind(&names, *recursive, bindings)?;
                }
                Line::Axiom { name, test, negated, body, .. } => {
                    let at = steps.tree(&names, body)?;
                    let (name, test, negated) = (name.clone(), *test, *negated);
                    steps.axioms.push(Axiom { name, test, negated, at });
                }
            }
        }
        Ok(steps)
    }

    fn add(&mut self, step: Step, varies: bool) -> At {
        self.steps.push((step, varies));
        self.steps.len() - 1
    }

    fn bind<'t>(
        &mut self,
        names: &Names<'t>,
        recursive: bool,
        bindings: &'t [Binding],
    ) -> Result<Names<'t>, String> {
        let mut inner = names.clone();
        if !recursive {
            for binding in bindings {
                let meaning = match binding.parameters {
                    Some(_) => Meaning::Function(binding),
                    None => Meaning::Value(self.tree(names, &binding.body)?),
                };
                inner = with(&inner, &binding.name, meaning);
            }
            return Ok(inner);
        }
        let mut unknowns = Vec::new();
        for binding in bindings {
            let unknown = self.add(Step::Unknown, true);
            inner = with(&inner, &binding.name, Meaning::Value(unknown));
            unknowns.push(unknown);
        }
        let first = self.steps.len();
        let bodies: Result<Vec<At>, String> =
            bindings.iter().map(|binding| self.tree(&inner, &binding.body)).collect();
        let unknowns = unknowns.into_iter().zip(bodies?).collect();
        self.add(Step::Again { first, unknowns }, true);
        Ok(inner)
    }

    fn tree<'t>(&mut self, names: &Names<'t>, tree: &'t Tree) -> Result<At, String> {
        match tree {
            Tree::Name(name) => self.name(names, name),
            Tree::Nothing => Ok(self.add(Step::Nothing, false)),
            Tree::Everything => Ok(self.add(Step::Everything, false)),
            Tree::Identity(set) => {
                let set = self.tree(names, set)?;
                Ok(self.add(Step::Identity(set), self.steps[set].1))
            }
            Tree::Unary(operator, operand) => {
                let operand = self.tree(names, operand)?;
                Ok(self.unary(*operator, operand))
            }
            Tree::Binary(operator, first, second) => {
                let (first, second) = (self.tree(names, first)?, self.tree(names, second)?);
                Ok(self.binary(*operator, first, second))
            }
            Tree::Union(operands) => {
                let mut all = self.tree(names, &operands[0].0)?;
                for (operand, _) in &operands[1..] {
                    let operand = self.tree(names, operand)?;
                    all = self.binary('|', all, operand);
                }
                Ok(all)
            }
            Tree::Let { recursive, bindings, body } => {
                let inner = self.bind(names, *recursive, bindings)?;
                self.tree(&inner, body)
            }
            Tree::Call(function, arguments) => self.call(names, function, arguments),
        }
    }

    fn unary(&mut self, operator: char, operand: At) -> At {
        self.add(Step::Unary(operator, operand), self.steps[operand].1)
    }

    fn binary(&mut self, operator: char, first: At, second: At) -> At {
        let varies = self.steps[first].1 || self.steps[second].1;
        self.add(Step::Binary(operator, first, second), varies)
    }

    fn name(&mut self, names: &Names<'_>, name: &str) -> Result<At, String> {
        let mut scope = names;
        while let Some(each) = scope {
            match each.meaning {
                Meaning::Value(at) if each.name == name => return Ok(at),
                _ => scope = &each.outer,
            }
        }
        Ok(self.derived(name))
    }

    /// A name that no file defines.
    fn derived(&mut self, name: &str) -> At {
        if let Some(&at) = self.derived.get(name) {
            return at;
        }
        let at = self.new_derived(name);
        self.derived.insert(name.to_owned(), at);
        at
    }

    fn new_derived(&mut self, name: &str) -> At {
        let within = |steps: &mut Self, relation: &str, sides: &str| {
            let (relation, sides) = (steps.derived(relation), steps.derived(sides));
            steps.binary('&', relation, sides)
        };
        match name {
            "rf" => self.add(Step::ReadsFrom, true),
            "co" => self.add(Step::Coherence, true),
            "fr" => {
                let (reads_from, coherence) = (self.derived("rf"), self.derived("co"));
                let read_by = self.unary('-', reads_from);
                let overwritten = self.binary(';', read_by, coherence);
                let same = self.derived("id");
                self.binary('\\', overwritten, same)
            }
            "rfi" => within(self, "rf", "int"),
            "rfe" => within(self, "rf", "ext"),
            "coi" => within(self, "co", "int"),
            "coe" => within(self, "co", "ext"),
            "fri" => within(self, "fr", "int"),
            "fre" => within(self, "fr", "ext"),
            _ => self.add(Step::Named(name.to_owned()), false),
        }
    }

    fn call<'t>(
        &mut self,
        names: &Names<'t>,
        function: &str,
        arguments: &'t [Tree],
    ) -> Result<At, String> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.tree(names, argument)?);
        }
        let mut scope = names;
        while let Some(each) = scope {
            if let Meaning::Function(binding) = each.meaning
                && each.name == function
            {
                let mut inner = each.outer.clone();
                for (parameter, value) in binding.parameters.iter().flatten().zip(values) {
                    inner = with(&inner, parameter, Meaning::Value(value));
                }
                return self.tree(&inner, &binding.body);
            }
            scope = &each.outer;
        }
        match (function, &values[..]) {
            ("domain", &[relation]) => Ok(self.add(Step::Domain(relation), self.steps[relation].1)),
            ("range", &[relation]) => {
                let inverse = self.unary('-', relation);
                Ok(self.add(Step::Domain(inverse), self.steps[inverse].1))
            }
            ("fencerel", &[set]) => {
                let order = self.derived("po");
                let fences = self.add(Step::Identity(set), self.steps[set].1);
                let to = self.binary(';', order, fences);
                Ok(self.binary(';', to, order))
            }
            ("toid", &[set]) => Ok(self.add(Step::Identity(set), self.steps[set].1)),
            _ => Err(format!("no function {function}")),
        }
    }
}
