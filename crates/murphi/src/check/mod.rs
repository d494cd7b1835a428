//! From the syntax tree to the typed model: names, types, constants and everything else that can
//! be wrong about a program before it runs.
//!
//! The work is one pass in the order of the source, except that functions may be called before
//! their declaration: all signatures come first, then all bodies, then the rules. If there are such
//! calls the pass is repeated with the functions numbered callees first, as the typed model wants
//! them but for functions that call each other. Cost is linear in the size of the program, up to the width of the scopes.
//!
//! A mistake is reported once: checking something answers either with its typed form or with
//! `Reported`, and whatever is built from a reported part is silent about it. Recursion follows
//! the syntax tree, whose depth the parser bounds.
//!
//! Where CMurphi and Rumur differ about what is a program, the union of both is accepted unless it
//! would be unsound; where they differ about what it means, [`Dialect`] decides.

mod assignments;
mod calls;
mod constants;
mod declarations;
mod expressions;
mod functions;
mod order;
mod places;
mod quantifiers;
mod recursion;
mod rules;
mod scope;
mod statements;
mod suggest;
mod types;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ast;
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::{Frame, Local, LocalId, Model, Parameter, Simple, Storage, Type, TypeId, TypeKind};
use crate::layout::{GREATEST_STATE, Layout};
use crate::parse::parse;
use crate::source::{Source, Span};
use crate::symmetric::Symmetric;

use functions::{Effects, Signature};
use scope::{Access, Root, Scopes, Symbol};
use types::TypeTable;

/// Whose reading of the language is followed where the tools differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// CMurphi: `x := y` copies an undefined `y`; scalarsets cannot be cleared.
    #[default]
    CMurphi,
    /// Rumur: `x := y` with an undefined `y` is an error; scalarsets can be cleared.
    Rumur,
}

impl Dialect {
    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::CMurphi => "cmurphi",
            Dialect::Rumur => "rumur",
        }
    }
}

/// How much of the language a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reading {
    /// What transformations of programs understand: no recursion, no priorities of rules, and to
    /// compare something undefined is an error in every dialect. A program without an error under
    /// this reading does the same under [`Reading::Whole`].
    #[default]
    Strict,
    /// Everything that can be run.
    Whole,
}

/// What a user may choose about a program without editing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// New values for constants, by name: an integer, `true`, `false`, or a member of an
    /// enumeration.
    pub constants: Vec<(String, String)>,
    /// Whose reading is followed.
    pub dialect: Dialect,
    /// How many rounds a `while` loop may take.
    pub loop_limit: u64,
    /// How many calls of functions that call themselves may be open at once.
    pub call_limit: u64,
    /// How much of the language a program may use.
    pub reading: Reading,
    /// Functions whose names begin with this were added by a caller who vouches that the order of
    /// elements does not show in the conditions of their filters, though these write something (the
    /// same elements to a set, say).
    pub vouched: Option<String>,
    /// Scalarsets whose undefined values are those of the subrange or enumeration that they stand
    /// for (see [`symmetric`](crate::symmetric)).
    pub symmetric: Vec<Symmetric>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            constants: Vec::new(),
            dialect: Dialect::default(),
            loop_limit: 1000,
            call_limit: 1000,
            reading: Reading::default(),
            vouched: None,
            symmetric: Vec::new(),
        }
    }
}

/// A program that can be run.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The program.
    pub model: Model,
    /// What looks like a mistake in it.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a program: its syntax, then its meaning.
///
/// Diagnostics that belong to no place in the text (an unknown constant in
/// [`Options::constants`]) have the empty span at its start.
pub fn load(source: Source, options: &Options) -> Result<Checked, Vec<Diagnostic>> {
    let (program, mut found) = parse(&source);
    let broken = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(program) = program.filter(|_| !broken) else {
        return Err(found);
    };
    match check(&program, Arc::new(source), options) {
        Ok(mut checked) => {
            found.append(&mut checked.warnings);
            Ok(Checked { model: checked.model, warnings: found })
        }
        Err(mut errors) => {
            found.append(&mut errors);
            Err(found)
        }
    }
}

/// Checks a program. All its errors (and then also its warnings) are in the answer, by their place.
pub fn check(
    program: &ast::Program,
    source: Arc<Source>,
    options: &Options,
) -> Result<Checked, Vec<Diagnostic>> {
    let mut checker = Checker::new(&source, options, None);
    checker.program(program);
    if let Some(order) = checker.callees_first() {
        checker = Checker::new(&source, options, Some(order));
        checker.program(program);
    }
    checker.finish()
}

/// The proof that something wrong was reported, so that nothing more need be said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reported;

/// The typed form of something, or the knowledge that it has none.
type Check<T> = Result<T, Reported>;

/// What is known about a local besides its [`Local`].
#[derive(Debug, Clone)]
struct LocalInfo {
    access: Access,
    root: Root,
}

/// Everything that is known while a program is being checked.
struct Checker<'a> {
    options: &'a Options,
    /// The model as far as it is built: types, variables and rules are added as they are met.
    model: Model,
    table: TypeTable,
    scopes: Scopes,
    /// In the order of the source; their bodies end up in `model.functions`, in `order`.
    signatures: Vec<Signature>,
    /// For each function in the order of the source, its number in the model.
    order: Option<Vec<u32>>,
    /// The locals of the rule, property or function being checked.
    frame: Frame,
    locals: Vec<LocalInfo>,
    /// What is bound around the rules being checked.
    parameters: Vec<Parameter>,
    /// What the code being checked does to the state.
    effects: Effects,
    /// The type that `return` needs: `None` in rules and procedures.
    result: Option<TypeId>,
    /// Where the names of the program are declared, also those that are not met yet.
    later: HashMap<String, Span>,
    /// The names that have been complained about.
    unknown_names: HashSet<String>,
    /// How many names are bound around the code being checked.
    bound: usize,
    /// The constants that the user may choose, with their places, in the order of the source.
    choosable: Vec<(String, Span)>,
    /// Which constants of the options have been met.
    overridden: Vec<bool>,
    /// How many rules, start states and properties of each kind had no name.
    unnamed: rules::Unnamed,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn new(source: &Arc<Source>, options: &'a Options, order: Option<Vec<u32>>) -> Self {
        let model = Model {
            source: Arc::clone(source),
            language: options.clone(),
            types: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            rules: Vec::new(),
            start_states: Vec::new(),
            properties: Vec::new(),
            covers: Vec::new(),
            loop_limit: options.loop_limit,
            call_limit: options.call_limit,
            undefined_members: options.dialect == Dialect::CMurphi
                && options.reading == Reading::Whole,
            ordered: Vec::new(),
            elements_have_order: false,
            tried: Vec::new(),
            recast: Vec::new(),
        };
        let mut checker = Checker {
            options,
            model,
            table: TypeTable::default(),
            scopes: Scopes::default(),
            signatures: Vec::new(),
            order,
            frame: Frame::default(),
            locals: Vec::new(),
            parameters: Vec::new(),
            effects: Effects::default(),
            result: None,
            later: HashMap::new(),
            unknown_names: HashSet::new(),
            bound: 0,
            choosable: Vec::new(),
            overridden: vec![false; options.constants.len()],
            unnamed: rules::Unnamed::default(),
            diagnostics: Vec::new(),
        };
        checker.declare_what_is_built_in();
        checker
    }

    /// `boolean`, `true` and `false`, in a scope of their own: a program may redeclare them.
    fn declare_what_is_built_in(&mut self) {
        for (simple, name) in [(Simple::Boolean, "boolean"), (Simple::Integer, "integer")] {
            let kind = TypeKind::Simple(simple);
            self.model.types.push(Type { name: Some(name.to_owned()), kind });
            self.table.push_built_in();
        }
        self.scopes.push();
        let built_in = [
            ("boolean", Symbol::Type(Model::BOOLEAN)),
            ("false", Symbol::Constant { ty: Model::BOOLEAN, value: 0 }),
            ("true", Symbol::Constant { ty: Model::BOOLEAN, value: 1 }),
        ];
        for (name, symbol) in built_in {
            self.scopes.declare(name, symbol, None);
        }
        self.scopes.push();
    }

    fn program(&mut self, program: &ast::Program) {
        self.later = top_level_names(program);
        for item in &program.items {
            match item {
                ast::Item::Declaration(declaration) => self.declaration(declaration),
                ast::Item::Function(function) => self.signature(function),
                ast::Item::Rule(_) => {}
            }
        }
        self.report_unused_constants();
        let functions = program.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) => Some(function),
            _ => None,
        });
        for (index, function) in functions.enumerate() {
            self.function(index, function);
        }
        self.spread_effects();
        for item in &program.items {
            if let ast::Item::Rule(rule) = item {
                self.rule(rule);
            }
        }
        self.require_rules(program);
    }

    /// A program should have something to start from and something to do.
    fn require_rules(&mut self, program: &ast::Program) {
        let (start_state, rule) = rules::kinds(program);
        let end = self.model.source.text.trim_end().len() as u32;
        let place = Span { start: end.saturating_sub(1), end };
        if !start_state {
            let help = "add `startstate … end`, which gives the variables their initial values";
            self.lacks(place, "the program has no start state", help);
        }
        if !rule {
            let help = "add `rule condition ==> … end`, a step the program can take";
            self.lacks(place, "the program has no rules", help);
        }
    }

    /// Such a program can be run as it is, as Rumur does, but it hardly says what was meant.
    fn lacks(&mut self, place: Span, message: &str, help: &str) {
        match self.options.reading {
            Reading::Whole => self.warn(Diagnostic::warning(place, message).help(help)),
            Reading::Strict => {
                self.error(Diagnostic::error(place, message).help(help));
            }
        }
    }

    fn finish(mut self) -> Result<Checked, Vec<Diagnostic>> {
        self.require_fitting_types();
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        if !self.diagnostics.iter().any(is_error) {
            self.find_dependence_on_order();
        }
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        diagnostics.dedup();
        match diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            true => Err(diagnostics),
            false => Ok(Checked { model: self.model, warnings: diagnostics }),
        }
    }

    /// Types and states that are too large to be laid out.
    fn require_fitting_types(&mut self) {
        let large = match Layout::of(&self.model) {
            Ok(layout) => return self.require_fitting_locals(&layout),
            Err(large) => large,
        };
        let bytes = large.bytes;
        let help = format!("a state may take up to {GREATEST_STATE} bytes");
        // If each type fits but not all variables together, the one that is too much is underlined.
        let mut smaller = self.model.clone();
        let mut too_much = None;
        while Layout::of(&smaller).is_err() && !smaller.globals.is_empty() {
            too_much = smaller.globals.pop();
        }
        let (span, message) = match too_much.filter(|_| Layout::of(&smaller).is_ok()) {
            Some(variable) => (variable.span, format!("a state would take {bytes} bytes or more")),
            None => {
                let message = format!("a value of this type would take {bytes} bytes or more");
                (self.table.span(large.ty), message)
            }
        };
        self.error(Diagnostic::error(span, message).help(help));
    }

    /// Locals that are too large, those of all functions that run at the same time together.
    fn require_fitting_locals(&mut self, layout: &Layout) {
        let own = |frame: &Frame| -> u64 {
            let owned = frame.locals.iter().filter(|local| local.storage == Storage::Own);
            owned.map(|local| u64::from(layout.types[local.ty.0 as usize].size)).sum()
        };
        let rules = self.model.start_states.iter().chain(&self.model.rules);
        let large_rule = rules.map(|rule| (own(&rule.frame), rule.span));
        let functions = &self.model.functions;
        let chains =
            self.calls_in_bytes(|function| functions.get(function).map_or(0, |f| own(&f.frame)));
        let large_chain = chains.into_iter().zip(functions).map(|(bytes, f)| (bytes, f.span));
        let most = large_rule.chain(large_chain).find(|(bytes, _)| *bytes > GREATEST_STATE);
        if let Some((bytes, span)) = most {
            let message = format!(
                "its local variables and those of the functions that it calls take {bytes} bytes"
            );
            let help = format!("local variables may take up to {GREATEST_STATE} bytes in all");
            self.error(Diagnostic::error(span, message).help(help));
        }
    }

    /// Reports something.
    fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports something that is no error.
    fn warn(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a part of the language that nothing here can run.
    fn unsupported(&mut self, span: Span, what: &str) -> Reported {
        self.error(Diagnostic::error(span, format!("{what} are not supported")))
    }

    /// Adds a local to the frame being built.
    fn add_local(&mut self, name: &str, ty: TypeId, storage: Storage, info: LocalInfo) -> LocalId {
        let id = LocalId(self.frame.locals.len() as u32);
        self.frame.locals.push(Local { name: name.to_owned(), ty, storage });
        self.locals.push(info);
        id
    }

    /// Makes a name stand for something in the innermost scope.
    fn declare(&mut self, name: &ast::Name, symbol: Symbol) {
        let Some(earlier) = self.scopes.declare(&name.text, symbol, Some(name.span)) else {
            return;
        };
        let message = format!("`{}` is declared twice", name.text);
        let diagnostic = Diagnostic::error(name.span, message);
        self.error(match earlier {
            Some(span) => diagnostic.related(span, "first declared here"),
            None => diagnostic,
        });
    }
}

/// Where constants, types and variables of the program are declared.
fn top_level_names(program: &ast::Program) -> HashMap<String, Span> {
    let declarations = program.items.iter().filter_map(|item| match item {
        ast::Item::Declaration(declaration) => Some(&declaration.kind),
        _ => None,
    });
    let names = declarations.flat_map(|kind| match kind {
        ast::DeclarationKind::Constant { names, .. }
        | ast::DeclarationKind::Type { names, .. }
        | ast::DeclarationKind::Variable(ast::Variables { names, .. }) => names,
    });
    names.map(|name| (name.text.clone(), name.span)).collect()
}
