//! Finds the memory events of a protocol: the procedures that mark them, and the types of
//! processors, addresses and values, which are the types of their parameters.
//!
//! A protocol calls `Load(p, a, v)` where a processor takes a value and `Store(p, a, v)` where it
//! writes one (other names can be given). If a store enters the coherence order later, as with
//! store buffers, the protocol calls `Commit(p, a, v)` at that point. The bodies are usually empty,
//! so that other tools can run the same file. Everything unsuitable is reported at its place, all
//! together.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use murphi::ast;
use murphi::check::{self, Options};
use murphi::diagnostic::{Diagnostic, Severity};
use murphi::ir::{FunctionId, Model, Simple, Storage, TypeId};
use murphi::parse::parse;
use murphi::source::{Source, Span};
use murphi::transform;

use crate::compose::member;
use crate::independence::{self, Treatment};
use crate::shadowing;

/// What the procedures that mark memory events are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventNames {
    /// Called where a processor takes a value.
    pub load: String,
    /// Called where a processor writes a value.
    pub store: String,
    /// Called where a store takes its place in the order of its location, if that is later: where
    /// it leaves a store buffer. If nothing is said, `Commit` is, if there is such a procedure;
    /// `none` is no procedure, unless there is one of that name.
    pub commit: Option<String>,
}

impl Default for EventNames {
    fn default() -> Self {
        EventNames { load: "Load".to_owned(), store: "Store".to_owned(), commit: None }
    }
}

/// A protocol whose memory events are known.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    /// As it was written, with the constants that were chosen.
    pub(crate) program: ast::Program,
    /// The same, but where a start state names a value it is the lowest. If data is independent, it
    /// does not matter which one it is.
    pub(crate) with_lowest_first: ast::Program,
    /// As it was understood.
    pub(crate) model: Arc<Model>,
    /// How compositions with it are to be read.
    pub(crate) options: Options,
    pub(crate) load: Marker,
    pub(crate) store: Marker,
    pub(crate) commit: Option<Marker>,
    pub(crate) processor: Domain,
    pub(crate) address: Domain,
    pub(crate) value: Domain,
    /// How values are treated.
    pub(crate) treatment: Treatment,
    /// What no name of the protocol begins with.
    pub(crate) prefix: String,
    /// Which of loads and stores there are none of.
    pub(crate) without_events: Vec<Diagnostic>,
    /// What looks like a mistake.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// A procedure that marks an event.
#[derive(Debug, Clone)]
pub(crate) struct Marker {
    pub(crate) name: String,
    pub(crate) id: FunctionId,
    /// What it calls the processor, the address and the value.
    pub(crate) parameters: [String; 3],
}

/// A type that events speak of.
#[derive(Debug, Clone)]
pub(crate) struct Domain {
    pub(crate) ty: TypeId,
    /// How the type is written: its name, or a range.
    pub(crate) text: String,
    /// How many values it has.
    pub(crate) count: u64,
    /// Whether its members are interchangeable by construction.
    pub(crate) symmetric: bool,
}

/// What is looked for if no name is given for the procedure that marks commits.
pub(crate) const COMMIT: &str = "Commit";

/// Says that no procedure marks commits.
const NO_COMMIT: &str = "none";

/// The roles of the parameters, for messages.
const ROLES: [&str; 3] = ["processor", "address", "value"];

/// Reads a protocol and finds its memory events.
pub(crate) fn find(
    source: &Source,
    options: &Options,
    names: &EventNames,
) -> Result<Protocol, Vec<Diagnostic>> {
    let (program, mut warnings) = parse(source);
    let Some(program) = program else { return Err(warnings) };
    let checked = check::check(&program, Arc::new(source.clone()), options)?;
    warnings.extend(checked.warnings);
    let model = Arc::new(checked.model);
    let mut errors = Vec::new();
    let load = marker(&model, &names.load, "load", &mut errors);
    let store = marker(&model, &names.store, "store", &mut errors);
    let (Some(load), Some(store)) = (load, store) else { return Err(errors) };
    let is_declared = |name: &str| model.functions.iter().any(|function| function.name == name);
    let commit = match names.commit.as_deref() {
        None if !is_declared(COMMIT) => None,
        Some(NO_COMMIT) if !is_declared(NO_COMMIT) => None,
        name => marker(&model, name.unwrap_or(COMMIT), "commit", &mut errors),
    };
    let markers: Vec<&Marker> = [&load, &store].into_iter().chain(&commit).collect();
    require_different(&model, &markers, &mut errors);
    let types = agreed_types(&model, &load, &store, &mut errors);
    if let Some(commit) = &commit {
        agreed_types(&model, commit, &store, &mut errors);
    }
    let [Some(processor), Some(address), Some(value)] = types else { return Err(errors) };
    require_distinct(&model, &store, [&processor, &address, &value], &mut errors);
    require_value_type(&model, &program, &store, &value, &mut errors);
    errors.extend(shadowing::errors(&program, &model, value.ty, &markers));
    if errors.iter().any(|found| found.severity == Severity::Error) {
        return Err(errors);
    }
    let without_events = [&load, &store].into_iter().filter_map(|one| never_called(&model, one));
    let without_events = without_events.collect();
    warnings.extend(commit.iter().filter_map(|commit| never_called(&model, commit)));
    let prefix = unused_prefix(&source.text);
    let treatment = independence::treatment(&model, value.ty, &value.text);
    let with_lowest_first = with_lowest_first(source, &model, &value, &treatment.literals);
    let with_lowest_first = with_lowest_first.unwrap_or_else(|| program.clone());
    let with_lowest_first = with_constants(with_lowest_first, &options.constants);
    let program = with_constants(program, &options.constants);
    let vouched = Some(prefix.clone());
    let options = Options { constants: Vec::new(), vouched, ..options.clone() };
    Ok(Protocol {
        program,
        with_lowest_first,
        model,
        options,
        load,
        store,
        commit,
        processor,
        address,
        value,
        treatment,
        prefix,
        without_events,
        warnings,
    })
}

/// The program with the lowest value in the place of what start states name. This replaces text, so
/// that places in it are those of the source only as far as lines go.
fn with_lowest_first(
    source: &Source,
    model: &Model,
    value: &Domain,
    literals: &[Span],
) -> Option<ast::Program> {
    let lowest = member(model, value.ty, 0)?;
    let mut places: Vec<Span> = literals.to_vec();
    places.sort_by_key(|span| (span.start, span.end));
    places.dedup();
    let mut text = source.text.clone();
    for span in places.into_iter().rev() {
        text.replace_range(span.start as usize..span.end as usize, &format!("({lowest})"));
    }
    parse(&Source { name: source.name.clone(), text }).0
}

/// The program with other constants in its text, so that what is composed with it stands alone. Each
/// constant has the value that [`check`](check::check) gives it: the last that was chosen for its own
/// name, also where one declaration has several names.
pub fn with_constants(mut program: ast::Program, chosen: &[(String, String)]) -> ast::Program {
    let declarations = program.items.into_iter().flat_map(|item| match item {
        ast::Item::Declaration(ast::Declaration {
            kind: ast::DeclarationKind::Constant { names, value },
            span,
        }) => one_by_one(names, &value, span, chosen),
        other => vec![other],
    });
    program.items = declarations.collect();
    program
}

/// The declaration of a value for these names, as one for each name.
fn one_by_one(
    names: Vec<ast::Name>,
    written: &ast::Expression,
    span: Span,
    chosen: &[(String, String)],
) -> Vec<ast::Item> {
    let declaration = |name: ast::Name| {
        let last = chosen.iter().rev().find(|(wanted, _)| *wanted == name.text);
        let value = last.map_or_else(|| written.clone(), |(_, text)| constant(text, written.span));
        let kind = ast::DeclarationKind::Constant { names: vec![name], value };
        ast::Item::Declaration(ast::Declaration { kind, span })
    };
    names.into_iter().map(declaration).collect()
}

/// A constant as a user writes it: an integer, `true`, `false`, or a member of an enumeration.
fn constant(text: &str, span: Span) -> ast::Expression {
    let text = text.trim();
    let is = |truth: &str| text.eq_ignore_ascii_case(truth);
    match text.parse() {
        Ok(value) => transform::expression(ast::ExpressionKind::Integer(value), span),
        Err(_) if is("true") || is("false") => transform::boolean(is("true"), span),
        Err(_) => transform::name(text, span),
    }
}

/// The procedure that marks an event.
fn marker(model: &Model, name: &str, what: &str, errors: &mut Vec<Diagnostic>) -> Option<Marker> {
    let Some(number) = model.functions.iter().position(|function| function.name == name) else {
        let message = format!(
            "the protocol has no procedure `{name}`, which marks where a processor {what}s"
        );
        let help = format!(
            "declare `procedure {name}(p: Processor; a: Address; v: Value); begin end;` and call \
             it where a {what} takes effect, or name another procedure with --{what} NAME"
        );
        errors.push(Diagnostic::error(Span::default(), message).help(help));
        return None;
    };
    let function = &model.functions[number];
    let fault = if function.result.is_some() {
        Some("is a function, not a procedure".to_owned())
    } else if function.parameters != 3 {
        Some(format!("has {} parameters, not 3", function.parameters))
    } else {
        let parameters = &function.frame.locals[..3];
        let reference = parameters.iter().find(|local| local.storage == Storage::Reference);
        reference.map(|local| format!("takes `{}` by reference", local.name))
    };
    if let Some(fault) = fault {
        let message = format!("`{name}` cannot mark a {what}: it {fault}");
        let help = "it takes a processor, an address and a value, in this order and by value";
        errors.push(Diagnostic::error(function.span, message).help(help));
        return None;
    }
    let parameter = |at: usize| function.frame.locals[at].name.clone();
    Some(Marker {
        name: name.to_owned(),
        id: FunctionId(number as u32),
        parameters: [parameter(0), parameter(1), parameter(2)],
    })
}

/// The types of processors, addresses and values, if loads and stores agree about them.
fn agreed_types(
    model: &Model,
    load: &Marker,
    store: &Marker,
    errors: &mut Vec<Diagnostic>,
) -> [Option<Domain>; 3] {
    let type_of =
        |marker: &Marker, at: usize| model.functions[marker.id.0 as usize].frame.locals[at].ty;
    let span = |marker: &Marker| model.functions[marker.id.0 as usize].span;
    [0, 1, 2].map(|at| {
        let (loaded, stored) = (type_of(load, at), type_of(store, at));
        if !same(model, loaded, stored) {
            let message = format!(
                "`{}` and `{}` disagree about the type of the {}",
                load.name, store.name, ROLES[at]
            );
            errors.push(Diagnostic::error(span(load), message).related(span(store), "and here"));
            return None;
        }
        let domain = domain(model, stored);
        if domain.is_none() {
            let message =
                format!("the type of the {} of `{}` is unsuitable", ROLES[at], store.name);
            let help = "it is a scalarset, an enumeration or a range, declared by a name";
            errors.push(Diagnostic::error(span(store), message).help(help));
        }
        domain
    })
}

/// Whether two types are one, or ranges without a name that have the same ends.
fn same(model: &Model, left: TypeId, right: TypeId) -> bool {
    let written = |ty: TypeId| type_text(model, ty);
    left == right || (written(left).is_some() && written(left) == written(right))
}

fn domain(model: &Model, ty: TypeId) -> Option<Domain> {
    let symmetric = match model.simple(ty)? {
        Simple::Scalarset(_) => true,
        Simple::Boolean | Simple::Range { .. } | Simple::Enumeration(_) => false,
        Simple::Integer | Simple::Union(_) | Simple::Position { .. } => return None,
    };
    Some(Domain { ty, text: type_text(model, ty)?, count: model.count(ty), symmetric })
}

/// A type as it can be written: by its name, or as a range.
pub(crate) fn type_text(model: &Model, ty: TypeId) -> Option<String> {
    match (&model.types[ty.0 as usize].name, model.simple(ty)) {
        (Some(name), _) => Some(name.clone()),
        (None, Some(Simple::Range { low, high })) => Some(format!("{low}..{high}")),
        _ => None,
    }
}

/// A procedure marks one kind of event.
fn require_different(model: &Model, markers: &[&Marker], errors: &mut Vec<Diagnostic>) {
    for (number, marker) in markers.iter().enumerate() {
        if markers[..number].iter().any(|other| other.id == marker.id) {
            let span = model.functions[marker.id.0 as usize].span;
            let message = format!("`{}` cannot mark two kinds of events", marker.name);
            let help = "loads, stores and commits are marked by a procedure each";
            errors.push(Diagnostic::error(span, message).help(help));
        }
    }
}

/// Processors, addresses and values must not be the same thing.
fn require_distinct(
    model: &Model,
    store: &Marker,
    domains: [&Domain; 3],
    errors: &mut Vec<Diagnostic>,
) {
    let span = model.functions[store.id.0 as usize].span;
    for (left, right) in [(0, 1), (0, 2), (1, 2)] {
        if same(model, domains[left].ty, domains[right].ty) {
            let message = format!(
                "`{}` takes {} and {} of the same type `{}`",
                store.name, ROLES[left], ROLES[right], domains[left].text
            );
            let help = "give each a type of its own, so that they can be distinguished";
            errors.push(Diagnostic::error(span, message).help(help));
        }
    }
}

/// Values need a declared type of their own: it is followed through the protocol and given
/// another size.
fn require_value_type(
    model: &Model,
    program: &ast::Program,
    store: &Marker,
    value: &Domain,
    errors: &mut Vec<Diagnostic>,
) {
    if declaration_of(program, &value.text).is_none() {
        let span = model.functions[store.id.0 as usize].span;
        let message = format!("the values of `{}` have no declared type of their own", store.name);
        let help = "declare one, as in `type Value: 0..1`, and use it wherever data is kept";
        errors.push(Diagnostic::error(span, message).help(help));
    }
}

/// The number of the item that declares a type by this name.
pub(crate) fn declaration_of(program: &ast::Program, name: &str) -> Option<usize> {
    program.items.iter().position(|item| match item {
        ast::Item::Declaration(ast::Declaration {
            kind: ast::DeclarationKind::Type { names, .. },
            ..
        }) => names.iter().any(|declared| declared.text == name),
        _ => false,
    })
}

fn never_called(model: &Model, marker: &Marker) -> Option<Diagnostic> {
    if independence::is_called(model, marker.id) {
        return None;
    }
    let span = model.functions[marker.id.0 as usize].span;
    let message = format!("`{}` is never called, so its events are not checked", marker.name);
    Some(Diagnostic::warning(span, message))
}

/// A prefix that no name in the text begins with.
fn unused_prefix(text: &str) -> String {
    let mut prefix = "tribunal_".to_owned();
    while text.contains(&prefix) {
        prefix.push_str("x_");
    }
    prefix
}
