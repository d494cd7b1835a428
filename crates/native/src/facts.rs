//! What a piece of the model may do when it runs, found by looking at it once.
//!
//! The translation asks whether evaluating something may change the state (then nothing may be
//! evaluated early or shared between instances), whether an element of a multiset may disappear
//! (then a reference into it must be checked again), and how large a function is (small ones are
//! translated in place). A function calls only functions before it unless it is recursive, so one
//! pass over them in order suffices, and with recursion as many as it takes until nothing changes;
//! each is linear in the size of the model.

use murphi::ir::{
    AliasTarget, Argument, Base, Call, Expression, ExpressionKind, Frame, FunctionId, LocalId,
    Model, Parameter, Place, Statement, StatementKind, Storage, TypeId, TypeKind,
};

use murphi::walk::{self, Visitor};

/// The largest function that is translated in place, in nodes of the model.
const SMALL: u32 = 40;

/// What a piece of the model may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Nodes, those of functions translated in place included.
    pub(crate) size: u32,
    /// The state may be written. An alias inside a function is taken to lead to the state.
    pub(crate) writes: bool,
    /// What a `var` parameter refers to may be written.
    pub(crate) writes_parameters: bool,
    /// Anything may be written that exists outside, locals of the same frame included.
    pub(crate) changes: bool,
    /// A multiset may lose elements.
    pub(crate) shrinks: bool,
    /// Elements may be removed one by one, which leaves gaps until the rule ends.
    pub(crate) removes: bool,
    /// It contains an `assume`.
    pub(crate) excludes: bool,
    /// What it returns may be undefined.
    pub(crate) undefined: bool,
    /// The functions it calls itself.
    pub(crate) calls: Vec<FunctionId>,
    /// It is a function that calls itself, perhaps through others.
    pub(crate) is_recursive: bool,
}

impl Facts {
    /// The facts about two pieces together.
    pub(crate) fn and(mut self, other: Facts) -> Facts {
        self.calls.extend(other.calls);
        Facts {
            size: self.size.saturating_add(other.size),
            writes: self.writes | other.writes,
            writes_parameters: self.writes_parameters | other.writes_parameters,
            changes: self.changes | other.changes,
            shrinks: self.shrinks | other.shrinks,
            removes: self.removes | other.removes,
            excludes: self.excludes | other.excludes,
            undefined: self.undefined | other.undefined,
            calls: self.calls,
            is_recursive: self.is_recursive | other.is_recursive,
        }
    }

    /// What a pass over the functions may add to.
    fn may(&self) -> [bool; 7] {
        let Facts { writes, writes_parameters, changes, shrinks, removes, excludes, .. } = *self;
        [writes, writes_parameters, changes, shrinks, removes, excludes, self.undefined]
    }
}

/// Facts about all functions and types.
#[derive(Debug)]
pub(crate) struct Knowledge {
    functions: Vec<Facts>,
    /// For each type, whether undefined is among its values.
    undefined_values: Vec<bool>,
    /// For each type, whether a variable of it that is undefined may be returned.
    handed_on: Vec<bool>,
    /// For each type, whether there is a multiset in it.
    multisets: Vec<bool>,
    /// Whether anything in the model removes elements one by one.
    removes: bool,
}

impl Knowledge {
    pub(crate) fn of(model: &Model) -> Self {
        let mut multisets: Vec<bool> = Vec::with_capacity(model.types.len());
        for ty in &model.types {
            let inside = match &ty.kind {
                TypeKind::Simple(_) => false,
                TypeKind::Record(fields) => {
                    fields.iter().any(|field| multisets[field.ty.0 as usize])
                }
                TypeKind::Array { element, .. } => multisets[element.0 as usize],
                TypeKind::Multiset { .. } => true,
            };
            multisets.push(inside);
        }
        let types = || (0..model.types.len() as u32).map(TypeId);
        let mut knowledge = Knowledge {
            functions: vec![Facts::default(); model.functions.len()],
            undefined_values: types().map(|ty| model.has_undefined_value(ty)).collect(),
            handed_on: types().map(|ty| model.hands_on_undefined(ty)).collect(),
            multisets,
            removes: false,
        };
        for (facts, function) in knowledge.functions.iter_mut().zip(&model.functions) {
            facts.is_recursive = function.is_recursive;
        }
        while knowledge.look_at_functions(model) {}
        let mut rules = model.rules.iter().chain(&model.start_states);
        knowledge.removes = knowledge.functions.iter().any(|facts| facts.removes)
            || rules.any(|rule| knowledge.statements(&rule.frame, &rule.body).removes);
        knowledge
    }

    /// Looks at all functions once. Says whether that must be done again.
    fn look_at_functions(&mut self, model: &Model) -> bool {
        let mut again = false;
        for (number, function) in model.functions.iter().enumerate() {
            let parameters = function.parameters;
            let facts = self.collect(&function.frame, parameters, |visitor| {
                walk::statements(&function.body, visitor);
            });
            let known = &mut self.functions[number];
            let is_recursive = known.is_recursive;
            again |= is_recursive && facts.may() != known.may();
            *known = Facts { is_recursive, ..facts };
        }
        again
    }

    /// Whether multisets may have gaps when a function is called.
    pub(crate) fn has_gaps(&self) -> bool {
        self.removes
    }

    pub(crate) fn function(&self, function: FunctionId) -> &Facts {
        &self.functions[function.0 as usize]
    }

    pub(crate) fn is_small(&self, function: FunctionId) -> bool {
        let facts = self.function(function);
        facts.size <= SMALL && !facts.is_recursive
    }

    pub(crate) fn has_multiset(&self, ty: TypeId) -> bool {
        self.multisets[ty.0 as usize]
    }

    pub(crate) fn statements(&self, frame: &Frame, statements: &[Statement]) -> Facts {
        self.collect(frame, 0, |visitor| walk::statements(statements, visitor))
    }

    pub(crate) fn expression(&self, frame: &Frame, expression: &Expression) -> Facts {
        self.collect(frame, 0, |visitor| walk::expression(expression, visitor))
    }

    pub(crate) fn place(&self, frame: &Frame, place: &Place) -> Facts {
        self.collect(frame, 0, |visitor| walk::place(place, visitor))
    }

    pub(crate) fn parameters(&self, frame: &Frame, parameters: &[Parameter]) -> Facts {
        self.collect(frame, 0, |visitor| walk::parameters(parameters, visitor))
    }

    /// Whether undefined is a value of the type.
    pub(crate) fn has_undefined_value(&self, ty: TypeId) -> bool {
        self.undefined_values[ty.0 as usize]
    }

    /// Whether an undefined variable of this type may be returned or added to a multiset.
    pub(crate) fn hands_on_undefined(&self, ty: TypeId) -> bool {
        self.handed_on[ty.0 as usize]
    }

    /// Whether evaluating the expression may give undefined, which is no error yet.
    pub(crate) fn may_be_undefined(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Undefined => true,
            ExpressionKind::Read(place) => self.has_undefined_value(place.ty),
            ExpressionKind::Convert(value) => self.may_be_undefined(value),
            ExpressionKind::Conditional(_, yes, no) => {
                self.may_be_undefined(yes) || self.may_be_undefined(no)
            }
            ExpressionKind::Call(call) => self.function(call.function).undefined,
            _ => false,
        }
    }

    fn collect(
        &self,
        frame: &Frame,
        parameters: usize,
        walk: impl FnOnce(&mut dyn Visitor),
    ) -> Facts {
        let facts = Facts::default();
        let mut collector = Collector { knowledge: self, frame, parameters, facts };
        walk(&mut collector);
        collector.facts
    }
}

struct Collector<'a> {
    knowledge: &'a Knowledge,
    frame: &'a Frame,
    /// How many of the locals are parameters of a function.
    parameters: usize,
    facts: Facts,
}

impl Collector<'_> {
    /// What is at this place may be written.
    fn write(&mut self, place: &Place) {
        self.facts.changes = true;
        match place.base {
            Base::Global(_) => self.facts.writes = true,
            Base::Local(local) => {
                let number = local.0 as usize;
                match self.frame.locals[number].storage {
                    Storage::Own | Storage::Bound => {}
                    Storage::Reference if number < self.parameters => {
                        self.facts.writes_parameters = true;
                    }
                    Storage::Reference => {
                        self.facts.writes = true;
                        self.facts.writes_parameters = true;
                    }
                }
            }
        }
    }
}

impl Visitor for Collector<'_> {
    fn statement(&mut self, statement: &Statement) {
        self.facts.size = self.facts.size.saturating_add(1);
        match &statement.kind {
            StatementKind::Assume(_) => self.facts.excludes = true,
            StatementKind::MultisetRemove { .. } | StatementKind::MultisetRemoveWhere { .. } => {
                self.facts.removes = true;
            }
            StatementKind::Return(Some(value)) => {
                let is_read = matches!(value.kind, ExpressionKind::Read(_));
                let is_copied = is_read && self.knowledge.hands_on_undefined(value.ty);
                self.facts.undefined |= is_copied || self.knowledge.may_be_undefined(value);
            }
            _ => {}
        }
    }

    fn expression(&mut self, _expression: &Expression) {
        self.facts.size = self.facts.size.saturating_add(1);
    }

    fn written(&mut self, place: &Place) {
        self.facts.shrinks |= self.knowledge.has_multiset(place.ty);
        self.write(place);
    }

    fn call(&mut self, call: &Call) {
        if !self.facts.calls.contains(&call.function) {
            self.facts.calls.push(call.function);
        }
        let called = self.knowledge.function(call.function);
        self.facts.writes |= called.writes;
        self.facts.changes |= called.writes;
        self.facts.shrinks |= called.shrinks;
        self.facts.removes |= called.removes;
        self.facts.excludes |= called.excludes;
        for argument in &call.arguments {
            if let Argument::Reference(place) = argument
                && called.writes_parameters
            {
                self.write(place);
            }
        }
        if self.knowledge.is_small(call.function) {
            self.facts.size = self.facts.size.saturating_add(called.size);
        }
    }
}

/// How the locals of a frame are used.
#[derive(Debug)]
pub(crate) struct Usage {
    /// Something else may come to refer to it.
    pub(crate) referred: Vec<bool>,
    /// It is the value of an alias, so it has no value before that alias is bound.
    pub(crate) alias_value: Vec<bool>,
}

impl Usage {
    pub(crate) fn of(frame: &Frame, parameters: &[Parameter], body: &[Statement]) -> Self {
        let none = vec![false; frame.locals.len()];
        let mut usage = Usage { referred: none.clone(), alias_value: none };
        walk::parameters(parameters, &mut usage);
        walk::statements(body, &mut usage);
        usage
    }

    fn refer(&mut self, place: &Place) {
        if let Base::Local(local) = place.base {
            self.referred[local.0 as usize] = true;
        }
    }
}

impl Visitor for Usage {
    fn call(&mut self, call: &Call) {
        for argument in &call.arguments {
            if let Argument::Reference(place) = argument {
                self.refer(place);
            }
        }
    }

    fn alias(&mut self, local: LocalId, target: &AliasTarget) {
        match target {
            AliasTarget::Place(place) => self.refer(place),
            AliasTarget::Value(_) => self.alias_value[local.0 as usize] = true,
        }
    }
}
