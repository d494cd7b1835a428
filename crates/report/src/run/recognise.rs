//! Which variables of a protocol are messages, and who acts in each rule. Nothing in a Murphi model
//! says so; it shows in types and in who uses what:
//!
//! - *Processors* are the members of the type that indexes most variables.
//! - A variable *looks like a message* if it is a multiset, or arrays of something that can be empty:
//!   an enumeration with a member such as `None` or `NoRequest`, a boolean, or a record that begins
//!   with one of these.
//! - What is indexed by processors and does not look like a message is the *state of a processor*. A
//!   rule that uses such a variable is a step of the processor; every other rule is a step of the
//!   home (the directory, memory).
//! - What looks like a message and is used by both, or by a processor at the index of another, is one.
//!
//! The page says what was recognised, and the user may say otherwise (`--lanes`, `--messages`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use murphi::ir::{
    Base, Call, Expression, ExpressionKind, Model, Place, Rule, Simple, Step, TypeId, TypeKind,
};
use murphi::walk::{self, Visitor};

/// The flags about lanes and messages.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// The type whose members are the processors.
    pub processors: Option<String>,
    /// The variables that hold messages; empty to recognise them.
    pub messages: Vec<String>,
}

/// A name that the protocol does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrecognised {
    /// No variable is called so.
    Variable(String),
    /// No type that indexes an array is called so.
    Type(String),
}

impl fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unrecognised::Variable(name) => write!(
                f,
                "--messages: the model has no variable `{name}`; name variables as it declares them"
            ),
            Unrecognised::Type(name) => write!(
                f,
                "--lanes: no array of the model is indexed by a type `{name}`; name the type whose \
                 members are the processors"
            ),
        }
    }
}

impl std::error::Error for Unrecognised {}

/// Whether a message is there, by the first simple value of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An enumeration with a member for "nothing".
    Kind,
    /// A boolean.
    Flag,
    /// The elements of a multiset.
    Multiset,
    /// Whatever the user says is a message: full if it is not as at the start.
    Changed,
}

/// Who acts in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Actor {
    /// A processor: the parameter that says which, where the rule uses its state directly.
    Processor(Option<String>),
    /// The home.
    Home,
}

/// The recognised processors and messages of a protocol.
#[derive(Clone, Debug)]
pub struct Recognised {
    /// The processors, as values of the model are written.
    pub(super) processors: Vec<String>,
    /// The label of the lane of everything else.
    pub(super) home: String,
    /// The variables that may hold messages, with the form of the condition that a slot is
    /// occupied.
    pub(super) messages: BTreeMap<String, Form>,
    /// For each variable, the field with the kind of message; empty without fields.
    pub(super) leads: BTreeMap<String, String>,
    /// Those of them that only processors use: messages if used at the index of another.
    pub(super) between_processors: BTreeSet<String>,
    /// The variables that are the state of a processor.
    pub(super) local: BTreeSet<String>,
    /// Who acts, by the name of the rule.
    pub(super) actors: BTreeMap<String, Actor>,
    /// The parameters of each rule that are processors, by the name of the rule.
    pub(super) parameters: BTreeMap<String, Vec<String>>,
    /// The sentences of the page about this.
    pub(super) notes: Vec<String>,
    /// Lines of each rule in the source, by the name of the rule: the first and the last.
    pub(super) lines: BTreeMap<String, (usize, usize)>,
}

impl Recognised {
    /// Recognises the processors and messages of a model.
    pub fn of(model: &Model, lanes: &Lanes) -> Result<Self, Unrecognised> {
        let processor = match &lanes.processors {
            Some(name) => Some(named_type(model, name)?),
            None => most_used_index(model),
        };
        let known = |name: &String| model.globals.iter().any(|global| global.name == *name);
        if let Some(unknown) = lanes.messages.iter().find(|name| !known(name)) {
            return Err(Unrecognised::Variable(unknown.clone()));
        }
        let look = ModelView { model, processor };
        let mut messages = BTreeMap::new();
        for global in &model.globals {
            let said = lanes.messages.contains(&global.name);
            let form = look.form(global.ty).or(said.then_some(Form::Changed));
            if let Some(form) = form.filter(|_| said || lanes.messages.is_empty()) {
                messages.insert(global.name.clone(), form);
            }
        }
        let is_local = |at: usize| {
            let global = &model.globals[at];
            look.is_per_processor(global.ty) && !messages.contains_key(&global.name)
        };
        let local: BTreeSet<usize> = (0..model.globals.len()).filter(|&at| is_local(at)).collect();
        let uses: Vec<BTreeSet<usize>> = model.rules.iter().map(|rule| used(model, rule)).collect();
        let by_processor: Vec<bool> = uses.iter().map(|used| !used.is_disjoint(&local)).collect();
        let home = look.home(&messages);
        let between = look.sort_out(&mut messages, &uses, &by_processor, lanes);
        let name = |&at: &usize| model.globals[at].name.clone();
        let leads = model.globals.iter().filter(|global| messages.contains_key(&global.name));
        let leads = leads.map(|global| (global.name.clone(), look.lead(global.ty))).collect();
        let mut found = Recognised {
            leads,
            processors: processor.map_or(Vec::new(), |ty| members(model, ty)),
            home,
            messages,
            between_processors: between,
            local: local.iter().map(name).collect(),
            actors: BTreeMap::new(),
            parameters: BTreeMap::new(),
            notes: Vec::new(),
            lines: BTreeMap::new(),
        };
        for (rule, by_processor) in model.rules.iter().zip(by_processor) {
            let actor = match by_processor {
                true => Actor::Processor(direct_parameter(rule, &local)),
                false => Actor::Home,
            };
            found.actors.insert(rule.name.clone(), actor);
            found.parameters.insert(rule.name.clone(), look.parameters(rule));
            let (first, last) = (rule.span.start, rule.span.end.saturating_sub(1));
            let lines = (model.source.position(first).0, model.source.position(last).0);
            found.lines.insert(rule.name.clone(), lines);
        }
        found.notes = found.sentences(model, processor, lanes);
        Ok(found)
    }

    /// How it was recognised, in sentences.
    fn sentences(&self, model: &Model, processor: Option<TypeId>, lanes: &Lanes) -> Vec<String> {
        let list = |names: Vec<&String>| {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let mut notes = Vec::new();
        match processor {
            Some(ty) if lanes.processors.is_some() => {
                notes.push(format!("Lanes: the members of {} (--lanes).", type_name(model, ty)));
            }
            Some(ty) => notes.push(format!(
                "Lanes: the members of {}, which indexes most variables (--lanes TYPE overrides this).",
                type_name(model, ty)
            )),
            None => notes.push("Lanes: no type indexes a variable, so there is one lane.".to_owned()),
        }
        notes.push(format!(
            "A rule that uses {} is a step of that processor; every other rule is a step of {}.",
            list(self.local.iter().collect()),
            self.home
        ));
        let said = if lanes.messages.is_empty() {
            "they can be empty, and more than one lane uses them; --messages VARIABLE,… overrides this"
        } else {
            "given by --messages"
        };
        notes.push(format!("Messages: {} ({said}).", list(self.messages.keys().collect())));
        notes
    }
}

/// A model, and its type of processors.
struct ModelView<'m> {
    model: &'m Model,
    processor: Option<TypeId>,
}

impl ModelView<'_> {
    /// The condition that a slot of the type is occupied, if it can be empty.
    fn form(&self, ty: TypeId) -> Option<Form> {
        match self.model.kind(ty) {
            TypeKind::Multiset { .. } => Some(Form::Multiset),
            TypeKind::Array { element, .. } => self.form(*element),
            TypeKind::Record(fields) => fields.first().and_then(|field| self.form(field.ty)),
            TypeKind::Simple(Simple::Boolean) => Some(Form::Flag),
            TypeKind::Simple(Simple::Enumeration(members)) => {
                members.iter().any(|member| is_nothing(member)).then_some(Form::Kind)
            }
            TypeKind::Simple(_) => None,
        }
    }

    /// The field with the kind of a message: the first enumeration, else the first field.
    fn lead(&self, ty: TypeId) -> String {
        match self.model.kind(ty) {
            TypeKind::Multiset { element, .. } | TypeKind::Array { element, .. } => {
                self.lead(*element)
            }
            TypeKind::Record(fields) => {
                let is_kind = |ty| matches!(self.model.simple(ty), Some(Simple::Enumeration(_)));
                let is_slot = self.form(ty).is_some();
                let kind = fields.iter().find(|field| is_kind(field.ty)).filter(|_| !is_slot);
                let field = kind.or(fields.first());
                field.map(|field| self.inner_lead(&field.name, field.ty)).unwrap_or_default()
            }
            TypeKind::Simple(_) => String::new(),
        }
    }

    /// The same for nested fields: elements of a queue have fields, too.
    fn inner_lead(&self, name: &str, ty: TypeId) -> String {
        match self.model.kind(ty) {
            TypeKind::Simple(_) => name.to_owned(),
            _ => self.lead(ty),
        }
    }

    fn is_per_processor(&self, ty: TypeId) -> bool {
        let TypeKind::Array { index, .. } = self.model.kind(ty) else { return false };
        Some(*index) == self.processor
    }

    /// Keeps the variables that more than one lane uses; gives those that only processors use.
    fn sort_out(
        &self,
        messages: &mut BTreeMap<String, Form>,
        uses: &[BTreeSet<usize>],
        by_processor: &[bool],
        lanes: &Lanes,
    ) -> BTreeSet<String> {
        let mut between = BTreeSet::new();
        for (at, global) in self.model.globals.iter().enumerate() {
            if !lanes.messages.is_empty() || !messages.contains_key(&global.name) {
                continue;
            }
            let users: Vec<bool> = uses
                .iter()
                .zip(by_processor)
                .filter(|(used, _)| used.contains(&at))
                .map(|(_, &by_processor)| by_processor)
                .collect();
            let (processors, home) = (users.contains(&true), users.contains(&false));
            let multiset = messages[&global.name] == Form::Multiset;
            match (processors, home) {
                _ if multiset => {}
                (true, true) => {}
                (true, false) if self.is_per_processor(global.ty) => {
                    between.insert(global.name.clone());
                }
                _ => {
                    messages.remove(&global.name);
                }
            }
        }
        between
    }

    /// What to call the lane of everything that is no processor.
    fn home(&self, messages: &BTreeMap<String, Form>) -> String {
        let record = |ty: TypeId| match self.model.kind(ty) {
            TypeKind::Record(_) => true,
            TypeKind::Array { element, .. } => {
                matches!(self.model.kind(*element), TypeKind::Record(_))
            }
            _ => false,
        };
        let candidates = self.model.globals.iter().filter(|global| {
            record(global.ty)
                && !self.is_per_processor(global.ty)
                && self.form(global.ty) != Some(Form::Kind)
                && messages.get(&global.name) != Some(&Form::Multiset)
        });
        let mut names: Vec<&str> = candidates.map(|global| global.name.as_str()).collect();
        names.sort_by_key(|name| {
            let low = name.to_lowercase();
            !(low.contains("dir") || low.contains("home") || low.contains("mem"))
        });
        names.first().map_or("system", |name| name).to_owned()
    }

    /// The parameters of a rule that are processors.
    fn parameters(&self, rule: &Rule) -> Vec<String> {
        let locals = rule.frame.locals.iter().filter(|local| Some(local.ty) == self.processor);
        locals.map(|local| local.name.clone()).collect()
    }
}

/// Whether a member of an enumeration says that nothing is there.
pub(super) fn is_nothing(member: &str) -> bool {
    let low = member.to_lowercase();
    let negated = member.strip_prefix("No").or(member.strip_prefix("NO"));
    let negated =
        negated.is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c == '_'));
    negated || ["none", "empty", "nothing"].iter().any(|word| low.ends_with(word)) || low == "nil"
}

/// The members of a type, as values are written.
fn members(model: &Model, ty: TypeId) -> Vec<String> {
    let (low, count) = (model.lowest(ty), model.count(ty).min(64));
    let count = i64::try_from(count).unwrap_or(0);
    (low..low + count).map(|value| murphi::value::render_simple(model, ty, value)).collect()
}

fn type_name(model: &Model, ty: TypeId) -> String {
    model.types[ty.0 as usize].name.clone().unwrap_or_else(|| "a type".to_owned())
}

fn named_type(model: &Model, name: &str) -> Result<TypeId, Unrecognised> {
    let found = index_types(model).into_iter().find(|&(ty, _)| type_name(model, ty) == name);
    found.map(|(ty, _)| ty).ok_or_else(|| Unrecognised::Type(name.to_owned()))
}

/// The types that index variables, with the number of variables, in the order of declaration.
fn index_types(model: &Model) -> Vec<(TypeId, usize)> {
    let mut found: Vec<(TypeId, usize)> = Vec::new();
    for global in &model.globals {
        let TypeKind::Array { index, .. } = model.kind(global.ty) else { continue };
        match found.iter_mut().find(|(ty, _)| ty == index) {
            Some((_, count)) => *count += 1,
            None => found.push((*index, 1)),
        }
    }
    found
}

fn most_used_index(model: &Model) -> Option<TypeId> {
    let mut best: Option<(TypeId, usize)> = None;
    for (ty, count) in index_types(model) {
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((ty, count));
        }
    }
    best.map(|(ty, _)| ty)
}

/// The variables that a rule uses, directly and in the functions that it calls.
fn used(model: &Model, rule: &Rule) -> BTreeSet<usize> {
    let mut seen = Uses::default();
    seen.rule(rule);
    let mut followed = BTreeSet::new();
    while let Some(function) = seen.calls.pop() {
        if followed.insert(function) {
            walk::statements(&model.functions[function].body, &mut seen);
        }
    }
    seen.globals
}

#[derive(Default)]
struct Uses {
    globals: BTreeSet<usize>,
    calls: Vec<usize>,
}

impl Uses {
    fn rule(&mut self, rule: &Rule) {
        walk::parameters(&rule.parameters, self);
        if let Some(guard) = &rule.guard {
            self.expression(guard);
            walk::expression(guard, self);
        }
        walk::statements(&rule.body, self);
    }
}

impl Visitor for Uses {
    fn place(&mut self, place: &Place) {
        if let Base::Global(global) = place.base {
            self.globals.insert(global.0 as usize);
        }
    }

    fn call(&mut self, call: &Call) {
        self.calls.push(call.function.0 as usize);
    }
}

/// The parameter by which a rule itself indexes the state of a processor.
fn direct_parameter(rule: &Rule, local: &BTreeSet<usize>) -> Option<String> {
    struct Indices<'a> {
        local: &'a BTreeSet<usize>,
        rule: &'a Rule,
        found: Option<String>,
    }
    impl Visitor for Indices<'_> {
        fn place(&mut self, place: &Place) {
            let Base::Global(global) = place.base else { return };
            let Some(Step::Index(index)) = place.steps.first() else { return };
            if !self.local.contains(&(global.0 as usize)) || self.found.is_some() {
                return;
            }
            let index: &Expression = index;
            if let ExpressionKind::Read(Place { base: Base::Local(at), steps, .. }) = &index.kind
                && steps.is_empty()
            {
                self.found = Some(self.rule.frame.locals[at.0 as usize].name.clone());
            }
        }
    }
    let mut indices = Indices { local, rule, found: None };
    walk::parameters(&rule.parameters, &mut indices);
    if let Some(guard) = &rule.guard {
        walk::expression(guard, &mut indices);
    }
    walk::statements(&rule.body, &mut indices);
    indices.found
}
