//! Composes a protocol with an observer: the result is a Murphi program, which is explored like any
//! other.
//!
//! An observer is Murphi text that is inserted into the syntax tree of the protocol: its types,
//! variables and procedures before those of the protocol, calls of its procedures at the beginning
//! of the procedures that mark memory events, and its initial values at the beginning of every
//! start state. The rules of the protocol keep their order and parameters, so that a run of the
//! composition is a run of the protocol. The protocol's own properties are removed (they are
//! checked separately); its assumptions stay. The cost is linear in the size of both.

use murphi::ast::{
    Body, Call, Declaration, DeclarationKind, Expression, ExpressionKind, FunctionDefinition, Item,
    Name, Program, PropertyKind, Quantifier, Rule, RuleKind, Statement, StatementKind, TypeKind,
};
use murphi::ir::{Model, Simple, TypeId, TypeKind as IrKind};
use murphi::parse::parse;
use murphi::source::{Source, Span};

use crate::events::{Domain, Marker, Protocol, declaration_of, type_text};
use crate::foundations::{Premises, Values};

/// The invariant of an observer whose memory is bounded. If it is violated, the observer has no
/// room left: an alarm, not a run-time error of the protocol.
pub const HAS_ROOM: &str = "the observer has room for all pending stores";

/// Variables and statements that observe the loads and stores of a protocol.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observer {
    /// Types, variables, functions and procedures.
    pub(crate) declarations: String,
    /// Invariants.
    pub(crate) properties: String,
    /// Parameters of the start states, as in `ruleset`, if any.
    pub(crate) choices: String,
    /// Statements at the beginning of a start state.
    pub(crate) start: String,
    /// Assumptions about the state after a start state.
    pub(crate) assumptions: String,
    /// The procedures to call at each load, each store and each commit (if the protocol has
    /// those), with processor, address and value.
    pub(crate) on_load: String,
    pub(crate) on_store: String,
    pub(crate) on_commit: String,
}

/// A protocol with an observer, and the assumptions that its verdict needs.
#[derive(Debug, Clone)]
pub(crate) struct Composition {
    pub(crate) program: Program,
    pub(crate) rests_on: Premises,
}

/// The protocol with the observer, without the protocol's own properties.
pub(crate) fn compose(protocol: &Protocol, values: Values, observer: &Observer) -> Composition {
    let mut program = compose_with_claims(protocol, values.count(), observer);
    let items = program.items.into_iter().filter_map(|item| match item {
        Item::Rule(rule) => without_claims(rule).map(Item::Rule),
        other => Some(other),
    });
    program.items = items.collect();
    program.items.extend(read(&observer.properties).items);
    Composition { program, rests_on: Premises::of(values) }
}

/// The protocol with the observer's declarations, without the observer's properties. If `values`
/// gives a number, start states use the lowest value only.
pub(crate) fn compose_with_claims(
    protocol: &Protocol,
    values: Option<u64>,
    observer: &Observer,
) -> Program {
    let mut program = match values {
        None => protocol.program.clone(),
        Some(values) => {
            let mut program = protocol.with_lowest_first.clone();
            resize(&mut program, protocol, values);
            program
        }
    };
    for item in &mut program.items {
        if let Item::Function(function) = item {
            let markers = [
                (Some(&protocol.load), &observer.on_load),
                (Some(&protocol.store), &observer.on_store),
                (protocol.commit.as_ref(), &observer.on_commit),
            ];
            for (marker, callee) in markers {
                let Some(marker) = marker else { continue };
                if function.name.text == marker.name
                    && let FunctionDefinition::Body(body) = &mut function.definition
                {
                    body.statements.insert(0, call(callee, marker));
                }
            }
        }
    }
    let items = program.items.into_iter().map(|item| match item {
        Item::Rule(rule) => Item::Rule(start_with(rule, observer)),
        other => other,
    });
    program.items = items.collect();
    let at = place_for_declarations(&program, protocol);
    let mut declarations = read(&observer.declarations).items;
    declarations.sort_by_key(|item| !matches!(item, Item::Declaration(_)));
    program.items.splice(at..at, declarations);
    program
}

/// Parses text from this crate.
fn read(text: &str) -> Program {
    let source = Source { name: "observer".to_owned(), text: text.to_owned() };
    let (program, problems) = parse(&source);
    let shown =
        || problems.iter().map(|problem| problem.render(&source, false)).collect::<String>();
    program.unwrap_or_else(|| panic!("the observer is written in Murphi:\n{}", shown()))
}

/// Parses statements from this crate.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let program = read(&format!("startstate begin {text} end;"));
    match program.items.into_iter().next() {
        Some(Item::Rule(Rule { kind: RuleKind::StartState { body, .. }, .. })) => body.statements,
        _ => Vec::new(),
    }
}

fn quantifiers(text: &str) -> Vec<Quantifier> {
    let program = read(&format!("ruleset {text} do startstate begin end; end;"));
    match program.items.into_iter().next() {
        Some(Item::Rule(Rule { kind: RuleKind::Ruleset { quantifiers, .. }, .. })) => quantifiers,
        _ => Vec::new(),
    }
}

/// `callee(p, a, v)` with the parameters of a marker.
fn call(callee: &str, marker: &Marker) -> Statement {
    let span = Span::default();
    let argument = |name: &String| Expression { kind: ExpressionKind::Name(name.clone()), span };
    let name = Name { text: callee.to_owned(), span };
    let arguments = marker.parameters.iter().map(argument).collect();
    Statement { kind: StatementKind::Call(Call { name, arguments }), span }
}

/// A rule without its properties; `None` if it consists of properties only. Assumptions stay.
fn without_claims(rule: Rule) -> Option<Rule> {
    let span = rule.span;
    let kept = |rules: Vec<Rule>| -> Option<Vec<Rule>> {
        let rules: Vec<Rule> = rules.into_iter().filter_map(without_claims).collect();
        (!rules.is_empty()).then_some(rules)
    };
    let kind = match rule.kind {
        RuleKind::Property(property) if property.kind != PropertyKind::Assumption => return None,
        RuleKind::Ruleset { quantifiers, rules } => {
            RuleKind::Ruleset { quantifiers, rules: kept(rules)? }
        }
        RuleKind::Alias { aliases, rules } => RuleKind::Alias { aliases, rules: kept(rules)? },
        RuleKind::Choose { name, multiset, rules } => {
            RuleKind::Choose { name, multiset, rules: kept(rules)? }
        }
        other => other,
    };
    Some(Rule { kind, span })
}

/// Every start state, with the choices and statements of the observer.
fn start_with(rule: Rule, observer: &Observer) -> Rule {
    let span = rule.span;
    let all = |rules: Vec<Rule>| rules.into_iter().map(|rule| start_with(rule, observer)).collect();
    let kind = match rule.kind {
        RuleKind::StartState { name, body } => {
            let mut statements = statements(&observer.start);
            statements.extend(body.statements);
            statements.extend(self::statements(&observer.assumptions));
            let body = Body { declarations: body.declarations, statements };
            let start = RuleKind::StartState { name, body };
            if observer.choices.is_empty() {
                start
            } else {
                let rules = vec![Rule { kind: start, span }];
                RuleKind::Ruleset { quantifiers: quantifiers(&observer.choices), rules }
            }
        }
        RuleKind::Ruleset { quantifiers, rules } => {
            RuleKind::Ruleset { quantifiers, rules: all(rules) }
        }
        RuleKind::Alias { aliases, rules } => RuleKind::Alias { aliases, rules: all(rules) },
        RuleKind::Choose { name, multiset, rules } => {
            RuleKind::Choose { name, multiset, rules: all(rules) }
        }
        other => other,
    };
    Rule { kind, span }
}

/// The position of the observer's declarations: after the types that it uses, and before the first
/// function, so that every Murphi tool accepts the order.
fn place_for_declarations(program: &Program, protocol: &Protocol) -> usize {
    let is_declaration = |item: &Item| matches!(item, Item::Declaration(_));
    let leading = program.items.iter().take_while(|item| is_declaration(item)).count();
    let domains = [&protocol.processor, &protocol.address, &protocol.value];
    let types = domains.iter().filter_map(|domain| declaration_of(program, &domain.text));
    types.map(|at| at + 1).max().unwrap_or(0).max(leading)
}

/// Changes the number of values. An enumeration keeps its members, because the protocol may name
/// them; a scalarset becomes a range, which allows every operation of a scalarset.
fn resize(program: &mut Program, protocol: &Protocol, values: u64) {
    let (model, value) = (&protocol.model, &protocol.value);
    let Some(at) = declaration_of(program, &value.text) else { return };
    let Item::Declaration(Declaration { kind: DeclarationKind::Type { definition, .. }, .. }) =
        &mut program.items[at]
    else {
        return;
    };
    let span = definition.span;
    match (&mut definition.kind, model.simple(value.ty)) {
        (TypeKind::Enumeration(members), _) => {
            for number in members.len() as u64..values {
                let text = format!("{}value_{number}", protocol.prefix);
                members.push(Name { text, span });
            }
        }
        (kind, Some(Simple::Range { .. } | Simple::Scalarset(_))) => {
            *kind = range(model.lowest(value.ty), values, span);
        }
        _ => {}
    }
}

/// Makes a type ordered: a scalarset becomes a range of the same size.
pub(crate) fn ordered(program: &mut Program, protocol: &Protocol, domain: &Domain) {
    let Some(Simple::Scalarset(_)) = protocol.model.simple(domain.ty) else { return };
    let Some(at) = declaration_of(program, &domain.text) else { return };
    if let Item::Declaration(declaration) = &mut program.items[at]
        && let DeclarationKind::Type { definition, .. } = &mut declaration.kind
    {
        definition.kind = range(protocol.model.lowest(domain.ty), domain.count, definition.span);
    }
}

/// The range of `count` numbers from `low` on.
fn range(low: i64, count: u64, span: Span) -> TypeKind {
    let number = |value: i64| {
        let magnitude = Expression { kind: ExpressionKind::Integer(value.saturating_abs()), span };
        let negate = murphi::ast::UnaryOperator::Negate;
        Box::new(match value < 0 {
            true => Expression { kind: ExpressionKind::Unary(negate, Box::new(magnitude)), span },
            false => magnitude,
        })
    };
    TypeKind::Range(number(low), number(low.saturating_add_unsigned(count.saturating_sub(1))))
}

/// The value with this number, from 0, as written in a program of [`resize`]d values.
pub(crate) fn literal(protocol: &Protocol, number: u64) -> String {
    let added = || format!("{}value_{number}", protocol.prefix);
    member(&protocol.model, protocol.value.ty, number).unwrap_or_else(added)
}

/// The member of a type with this number, from 0, as written; `None` if an enumeration has fewer.
pub(crate) fn member(model: &Model, ty: TypeId, number: u64) -> Option<String> {
    match model.simple(ty) {
        Some(Simple::Enumeration(members)) => members.get(number as usize).cloned(),
        Some(Simple::Boolean) => Some(if number == 0 { "false" } else { "true" }.to_owned()),
        _ => Some(model.lowest(ty).saturating_add_unsigned(number).to_string()),
    }
}

/// Assumptions that every value in a start state is `initial` or undefined. A variable whose index
/// types have no name cannot be mentioned and is left out.
pub(crate) fn initially(protocol: &Protocol, initial: &str) -> String {
    let model = &*protocol.model;
    let mut assumptions = String::new();
    for global in &model.globals {
        if let Some(condition) = all_initial(protocol, global.ty, &global.name, initial, 0) {
            assumptions.push_str(&format!("assume {condition}; "));
        }
    }
    assumptions
}

/// The assumption for one place; `None` if it holds no values.
fn all_initial(
    protocol: &Protocol,
    ty: TypeId,
    place: &str,
    initial: &str,
    depth: usize,
) -> Option<String> {
    let model = &*protocol.model;
    if ty == protocol.value.ty {
        return Some(format!("(isundefined({place}) | {place} = {initial})"));
    }
    let index_name = format!("{}i{depth}", protocol.prefix);
    match model.kind(ty) {
        IrKind::Simple(_) => None,
        IrKind::Record(fields) => {
            let parts = fields.iter().filter_map(|field| {
                let place = format!("{place}.{}", field.name);
                all_initial(protocol, field.ty, &place, initial, depth)
            });
            let parts: Vec<String> = parts.collect();
            (!parts.is_empty()).then(|| parts.join(" & "))
        }
        IrKind::Array { index, element } => {
            let at = |index: &str| {
                all_initial(protocol, *element, &format!("{place}[{index}]"), initial, depth + 1)
            };
            match (type_text(model, *index), model.simple(*index)) {
                (Some(index), _) => {
                    let condition = at(&index_name)?;
                    Some(format!("forall {index_name}: {index} do {condition} end"))
                }
                (None, Some(Simple::Enumeration(members))) => {
                    let parts: Option<Vec<String>> = members.iter().map(|it| at(it)).collect();
                    parts.map(|parts| parts.join(" & "))
                }
                (None, _) => None,
            }
        }
        IrKind::Multiset { element, .. } => {
            let inner = format!("{place}[{index_name}]");
            let condition = all_initial(protocol, *element, &inner, initial, depth + 1)?;
            Some(format!("MultisetCount({index_name}: {place}, !({condition})) = 0"))
        }
    }
}

/// Whether a type contains values; if `flat`, elements of multisets do not count.
pub(crate) fn carries(model: &Model, ty: TypeId, value: TypeId, flat: bool) -> bool {
    ty == value
        || match model.kind(ty) {
            IrKind::Simple(_) => false,
            IrKind::Record(fields) => {
                fields.iter().any(|field| carries(model, field.ty, value, flat))
            }
            IrKind::Array { element, .. } => carries(model, *element, value, flat),
            IrKind::Multiset { element, .. } => !flat && carries(model, *element, value, flat),
        }
}

/// Statements that print an event: kind, processor, address and value, on a line that begins with
/// the prefix.
pub(crate) fn announce(protocol: &Protocol, kind: &str, value: &str) -> String {
    let prefix = &protocol.prefix;
    format!(
        "put \"\\n{prefix}{kind} \"; put {prefix}p; put \" \"; put {prefix}a; put \" \"; \
         put {value}; put \"\\n\";"
    )
}

/// Replaces the placeholders in the text of an observer by the names of the protocol; `$_` begins
/// the observer's own names.
pub(crate) fn fill(protocol: &Protocol, template: &str) -> String {
    let value = format!("{}v", protocol.prefix);
    let mut filled = template.to_owned();
    for kind in ["load", "store", "commit"] {
        filled = filled.replace(&format!("$say_{kind}"), &announce(protocol, kind, &value));
    }
    for (name, domain) in [
        ("$Processor", &protocol.processor),
        ("$Address", &protocol.address),
        ("$Value", &protocol.value),
    ] {
        filled = filled.replace(name, &domain.text);
    }
    filled.replace("$_", &protocol.prefix)
}

/// As [`fill`], and replaces `$0`, `$1`, … by values.
pub(crate) fn fill_with_values(protocol: &Protocol, template: &str, values: u64) -> String {
    (0..values).fold(fill(protocol, template), |filled, value| {
        filled.replace(&format!("${value}"), &literal(protocol, value))
    })
}
