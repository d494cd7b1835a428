//! Evaluation of places, domains and expressions.

use super::error::{CallSite, RuntimeError, RuntimeErrorKind};
use super::memory::{Address, Memory, Slot, Vanished, element, position_of_room, room_of_position};
use super::statement::Flow;
use crate::ir::{
    AliasTarget, Argument, Base, Binder, Call, Domain, Expression, ExpressionKind, LocalId, Model,
    Operator, Place, Simple, Step, TypeId, TypeKind,
};
use crate::source::Span;
use crate::value::{State, Value, present, render_simple, union_member};

/// One run of a rule, a start state or a property.
pub(super) struct Execution<'m> {
    pub(super) model: &'m Model,
    pub(super) memory: Memory<'m>,
    /// What `put` has printed.
    pub(super) output: String,
    /// The `cover` statements that were reached with their condition true.
    pub(super) covered: Vec<usize>,
    calls: Vec<CallSite>,
    /// How many of the calls are of recursive functions.
    pub(super) recursion: u64,
}

/// Why an execution ended early.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(Box<RuntimeError>),
    /// An `assume` did not hold.
    Excluded,
}

/// The values of a domain, in order.
pub(super) struct Progression {
    next: Option<i64>,
    last: i64,
    by: i64,
}

impl Progression {
    /// From `from` to `to`, both included. `by` is not 0 and leads from `from` to `to` if they
    /// differ, or is positive.
    fn new(from: i64, to: i64, by: i64) -> Self {
        let empty = by > 0 && from > to;
        Progression { next: (!empty).then_some(from), last: to, by }
    }

    /// `length` values from `first` on.
    fn counted(first: i64, length: u64) -> Self {
        match length {
            0 => Progression { next: None, last: 0, by: 1 },
            _ => Progression::new(first, first.wrapping_add_unsigned(length - 1), 1),
        }
    }
}

impl Iterator for Progression {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let value = self.next?;
        let passed = |next: &i64| if self.by > 0 { *next > self.last } else { *next < self.last };
        self.next = value.checked_add(self.by).filter(|next| !passed(next));
        Some(value)
    }
}

impl<'m> Execution<'m> {
    pub(super) fn new(model: &'m Model, state: State) -> Self {
        Execution {
            model,
            memory: Memory::new(model, state),
            output: String::new(),
            covered: Vec::new(),
            calls: Vec::new(),
            recursion: 0,
        }
    }

    /// Begins anew in the state that it began in.
    pub(super) fn restart(&mut self) {
        self.memory.restore();
        self.output.clear();
        self.covered.clear();
        self.calls.clear();
        self.recursion = 0;
    }

    pub(super) fn fail(&self, kind: RuntimeErrorKind, span: Span, message: String) -> Stop {
        let calls = self.calls.clone();
        Stop::Failed(Box::new(RuntimeError { kind, span, message, calls }))
    }

    fn vanished(&self, address: &Address, span: Span) -> Stop {
        let message =
            format!("`{}` has been removed from its multiset", self.memory.render(address));
        self.fail(RuntimeErrorKind::PositionEmpty, span, message)
    }

    /// What is at an address.
    pub(super) fn read(&self, address: &Address, span: Span) -> Result<&Value, Stop> {
        self.memory.read(address).map_err(|Vanished| self.vanished(address, span))
    }

    /// Changes what is at an address.
    pub(super) fn write(
        &mut self,
        address: &Address,
        value: Value,
        span: Span,
    ) -> Result<(), Stop> {
        match self.memory.write(address) {
            Ok(room) => {
                *room = value;
                Ok(())
            }
            Err(Vanished) => Err(self.vanished(address, span)),
        }
    }

    /// Fails if an element that the address leads through has been removed.
    fn still_there(&self, address: &Address, span: Span) -> Result<(), Stop> {
        match address.may_vanish() {
            true => self.read(address, span).map(|_| ()),
            false => Ok(()),
        }
    }

    /// Follows a place to its address, evaluating its indices from left to right. An index may
    /// call a function that removes an element which the address leads through: then there is no
    /// such place any more.
    pub(super) fn address(&mut self, place: &'m Place) -> Result<Address, Stop> {
        let model = self.model;
        let (mut address, mut ty) = match place.base {
            Base::Global(global) => {
                let global = global.0 as usize;
                (self.memory.global(global), model.globals[global].ty)
            }
            Base::Local(local) => {
                let address = self.memory.local(local);
                // What it stands for may have been removed since it was bound.
                self.still_there(&address, place.span)?;
                (address, self.memory.local_type(local))
            }
        };
        for step in &place.steps {
            match (step, model.kind(ty)) {
                (Step::Field(field), TypeKind::Record(fields)) => {
                    address.push(*field);
                    ty = fields[*field].ty;
                }
                (Step::Index(expression), TypeKind::Array { index, element }) => {
                    let value = self.number(expression)?;
                    self.still_there(&address, place.span)?;
                    let at = i128::from(value) - i128::from(model.lowest(*index));
                    if at < 0 || at >= i128::from(model.count(*index)) {
                        let value = render_simple(model, expression.ty, value);
                        let domain = describe_domain(model, *index);
                        let message = format!("index {value} is outside {domain}");
                        let kind = RuntimeErrorKind::IndexOutside;
                        return Err(self.fail(kind, expression.span, message));
                    }
                    address.push(at as usize);
                    ty = *element;
                }
                (Step::Element(expression), TypeKind::Multiset { element, .. }) => {
                    let at = self.number(expression)?;
                    self.still_there(&address, place.span)?;
                    let at = self.occupied(&address, at, expression.span)?;
                    address.push_element(at);
                    ty = *element;
                }
                (step, kind) => unreachable!("{step:?} does not lead into {kind:?}"),
            }
        }
        Ok(address)
    }

    /// The position `at` of the multiset at `address`, if there is an element.
    pub(super) fn occupied(&self, address: &Address, at: i64, span: Span) -> Result<usize, Stop> {
        let values = self.rooms(address, span)?;
        match usize::try_from(at) {
            Ok(position) if element(values, position).is_ok() => Ok(position),
            Ok(position) if room_of_position(position) < values.len() => {
                let mut removed = address.clone();
                removed.push_element(position);
                Err(self.vanished(&removed, span))
            }
            _ => {
                let name = self.memory.render(address);
                let message = match present(values).count() {
                    0 => format!("position {at} of `{name}` is empty: it has no elements"),
                    1 => format!("position {at} of `{name}` is empty: it has 1 element"),
                    n => format!("position {at} of `{name}` is empty: it has {n} elements"),
                };
                Err(self.fail(RuntimeErrorKind::PositionEmpty, span, message))
            }
        }
    }

    /// The elements of the multiset at an address, with the gaps between them.
    pub(super) fn rooms(&self, address: &Address, span: Span) -> Result<&[Value], Stop> {
        match self.read(address, span)? {
            Value::Multiset(values) => Ok(values),
            value => unreachable!("{value:?} is not a multiset"),
        }
    }

    /// The values a bound variable goes through, fixed before the first.
    pub(super) fn domain(&mut self, binder: &'m Binder) -> Result<Progression, Stop> {
        let model = self.model;
        match &binder.domain {
            Domain::Type(ty) => Ok(Progression::counted(model.lowest(*ty), model.count(*ty))),
            Domain::Range { from, to, by } => {
                let (start, end) = (self.number(from)?, self.number(to)?);
                let step = self.number(by)?;
                if step == 0 {
                    let message = format!("the range {start} to {end} by 0 never ends");
                    return Err(self.fail(RuntimeErrorKind::StepZero, by.span, message));
                }
                if step < 0 && start < end {
                    let message =
                        format!("the step {step} leads away from {end}, beginning at {start}");
                    return Err(self.fail(RuntimeErrorKind::StepLeadsAway, by.span, message));
                }
                Ok(Progression::new(start, end, step))
            }
            Domain::Multiset(_) => unreachable!("only `choose` and filters go through positions"),
        }
    }

    /// `forall` and `exists`.
    fn quantified(
        &mut self,
        all: bool,
        binder: &'m Binder,
        condition: &'m Expression,
    ) -> Result<bool, Stop> {
        let unordered = matches!(binder.domain, Domain::Type(ty) if self.model.is_unordered(ty));
        let (mut decided, mut excluded) = (false, false);
        for value in self.domain(binder)? {
            self.bind(binder.local, value);
            match unordered {
                true => match self.truth_unless_excluded(condition)? {
                    Some(truth) => decided |= truth != all,
                    None => excluded = true,
                },
                false if self.truth(condition)? != all => return Ok(!all),
                false => {}
            }
        }
        match excluded && !decided {
            true => Err(Stop::Excluded),
            false => Ok(all != decided),
        }
    }

    /// The value of a condition; nothing if an `assume` in it does not hold.
    fn truth_unless_excluded(&mut self, condition: &'m Expression) -> Result<Option<bool>, Stop> {
        self.unless_excluded(|this| this.truth(condition))
    }

    /// What something gives; nothing if an `assume` in it does not hold, which ends what it calls.
    pub(super) fn unless_excluded<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let (calls, recursion, depth) = (self.calls.len(), self.recursion, self.memory.depth());
        match run(self) {
            Ok(result) => Ok(Some(result)),
            Err(Stop::Excluded) => {
                self.calls.truncate(calls);
                self.recursion = recursion;
                self.memory.leave_to(depth);
                Ok(None)
            }
            Err(failed) => Err(failed),
        }
    }

    /// Evaluates the condition for every element of the multiset that the binder goes through, in
    /// the order of their rooms, and calls `judge` with the room of each that satisfies it. There
    /// are as many rooms as before the first; which of them have an element is seen at each.
    pub(super) fn filter(
        &mut self,
        binder: &'m Binder,
        condition: &'m Expression,
        mut judge: impl FnMut(usize),
    ) -> Result<Address, Stop> {
        let Domain::Multiset(multiset) = &binder.domain else {
            unreachable!("a filter goes through a multiset");
        };
        let address = self.address(multiset)?;
        let mut excluded = false;
        for room in 0..self.rooms(&address, multiset.span)?.len() {
            let rooms = self.rooms(&address, multiset.span)?;
            let Some(position) = position_of_room(rooms, room) else {
                continue;
            };
            self.bind(binder.local, position as i64);
            match self.truth_unless_excluded(condition)? {
                Some(true) => judge(room),
                Some(false) => {}
                None => excluded = true,
            }
        }
        match excluded {
            true => Err(Stop::Excluded),
            false => Ok(address),
        }
    }

    /// Gives a bound variable its value.
    pub(super) fn bind(&mut self, local: LocalId, value: i64) {
        self.memory.bind(local, Slot::Value(Value::Simple(Some(value))));
    }

    /// Binds an alias.
    pub(super) fn bind_alias(
        &mut self,
        local: LocalId,
        target: &'m AliasTarget,
    ) -> Result<(), Stop> {
        let slot = match target {
            AliasTarget::Place(place) => Slot::Reference(self.address(place)?),
            AliasTarget::Value(expression) => {
                let value = self.evaluate(expression)?;
                self.admit(&value, self.memory.local_type(local), expression.span)?;
                Slot::Value(value)
            }
        };
        self.memory.bind(local, slot);
        Ok(())
    }

    /// The value of an expression. It is undefined for the literal `undefined`, and for what has
    /// undefined among its values.
    pub(super) fn evaluate(&mut self, expression: &'m Expression) -> Result<Value, Stop> {
        match &expression.kind {
            ExpressionKind::Read(place) => {
                let address = self.address(place)?;
                match self.read(&address, place.span)? {
                    Value::Simple(None) if !self.model.has_undefined_value(place.ty) => {
                        Err(self.undefined(&address, place.span))
                    }
                    value => Ok(value.clone()),
                }
            }
            ExpressionKind::Convert(value) if self.model.has_undefined_value(value.ty) => {
                let (from, to) = (value.ty, expression.ty);
                match self.evaluate(value)? {
                    Value::Simple(Some(number)) => {
                        let number = self.convert(number, from, to, expression.span)?;
                        Ok(Value::Simple(Some(number)))
                    }
                    undefined => Ok(undefined),
                }
            }
            ExpressionKind::Undefined => Ok(Value::undefined(self.model, expression.ty)),
            ExpressionKind::Conditional(condition, yes, no) => match self.truth(condition)? {
                true => self.evaluate(yes),
                false => self.evaluate(no),
            },
            ExpressionKind::Call(call) => Ok(self.call(call)?.unwrap_or_else(|| {
                unreachable!("only a function with a result is called in an expression")
            })),
            // All others have simple values.
            _ => self.number(expression).map(|value| Value::Simple(Some(value))),
        }
    }

    fn undefined(&self, address: &Address, span: Span) -> Stop {
        let message = format!("`{}` is undefined", self.memory.render(address));
        self.fail(RuntimeErrorKind::Undefined, span, message)
    }

    /// The value of an expression, where reading an undefined simple variable is no error.
    pub(super) fn evaluate_or_undefined(
        &mut self,
        expression: &'m Expression,
    ) -> Result<Value, Stop> {
        match &expression.kind {
            ExpressionKind::Read(place) => {
                let address = self.address(place)?;
                self.read(&address, place.span).cloned()
            }
            _ => self.evaluate(expression),
        }
    }

    /// The value of a simple expression that is compared. A function may hand on something undefined
    /// whose type does not have undefined among its values; comparing that is an error.
    pub(super) fn evaluate_to_compare(
        &mut self,
        expression: &'m Expression,
    ) -> Result<Value, Stop> {
        match self.model.has_undefined_value(expression.ty) {
            true => self.evaluate(expression),
            false => Ok(Value::Simple(Some(self.number(expression)?))),
        }
    }

    /// The value of what is returned or added to a multiset.
    pub(super) fn evaluate_to_hand_on(
        &mut self,
        expression: &'m Expression,
    ) -> Result<Value, Stop> {
        match self.model.hands_on_undefined(expression.ty) {
            true => self.evaluate_or_undefined(expression),
            false => self.evaluate(expression),
        }
    }

    /// The value of a simple expression.
    pub(super) fn number(&mut self, expression: &'m Expression) -> Result<i64, Stop> {
        match &expression.kind {
            ExpressionKind::Constant(value) => Ok(*value),
            ExpressionKind::Read(place) => self.simple(place),
            ExpressionKind::Not(operand) => Ok(i64::from(!self.truth(operand)?)),
            ExpressionKind::Negate(operand) => {
                let value = self.number(operand)?;
                let overflow = || format!("-({value}) does not fit in 64 bits");
                self.fitting(value.checked_neg(), expression.span, overflow)
            }
            ExpressionKind::Complement(operand) => Ok(!self.number(operand)?),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, expression.span)
            }
            ExpressionKind::Same { equal, left, right } => {
                let left = self.evaluate(left)?;
                let right = self.evaluate(right)?;
                Ok(i64::from(left.same(&right) == *equal))
            }
            ExpressionKind::Quantified { all, binder, condition } => {
                Ok(i64::from(self.quantified(*all, binder, condition)?))
            }
            ExpressionKind::IsUndefined(place) => {
                let address = self.address(place)?;
                Ok(i64::from(*self.read(&address, place.span)? == Value::Simple(None)))
            }
            ExpressionKind::IsMember { value, member } => {
                let is_member = match self.evaluate(value)? {
                    Value::Simple(Some(number)) => self.member_of(value.ty, number).0 == *member,
                    _ => false,
                };
                Ok(i64::from(is_member))
            }
            ExpressionKind::Convert(value) => {
                let number = self.number(value)?;
                self.convert(number, value.ty, expression.ty, expression.span)
            }
            ExpressionKind::MultisetCount { binder, condition } => {
                let mut count = 0;
                self.filter(binder, condition, |_| count += 1)?;
                Ok(count)
            }
            ExpressionKind::Undefined
            | ExpressionKind::Conditional(..)
            | ExpressionKind::Call(_) => match self.evaluate(expression)? {
                Value::Simple(Some(value)) => Ok(value),
                Value::Simple(None) => {
                    let message = "this value is undefined".to_owned();
                    Err(self.fail(RuntimeErrorKind::Undefined, expression.span, message))
                }
                value => unreachable!("{value:?} is not simple"),
            },
        }
    }

    /// What is at a place that holds a simple value.
    fn simple(&mut self, place: &'m Place) -> Result<i64, Stop> {
        if let (Base::Local(local), []) = (place.base, &place.steps[..])
            && let Some(value) = self.memory.simple(local)
        {
            return Ok(value);
        }
        let address = self.address(place)?;
        match self.read(&address, place.span)? {
            Value::Simple(Some(value)) => Ok(*value),
            Value::Simple(None) => Err(self.undefined(&address, place.span)),
            value => unreachable!("{value:?} is not simple"),
        }
    }

    /// The value of a condition.
    pub(super) fn truth(&mut self, expression: &'m Expression) -> Result<bool, Stop> {
        Ok(self.number(expression)? != 0)
    }

    fn fitting(
        &self,
        result: Option<i64>,
        span: Span,
        message: impl FnOnce() -> String,
    ) -> Result<i64, Stop> {
        result.ok_or_else(|| self.fail(RuntimeErrorKind::Overflow, span, message()))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &'m Expression,
        right: &'m Expression,
        span: Span,
    ) -> Result<i64, Stop> {
        if matches!(operator, Operator::Equal | Operator::NotEqual)
            && self.model.has_undefined_value(left.ty)
        {
            let equal = self.evaluate(left)? == self.evaluate(right)?;
            return Ok(i64::from(equal == (operator == Operator::Equal)));
        }
        let a = self.number(left)?;
        match (operator, a != 0) {
            (Operator::And, false) => return Ok(0),
            (Operator::Or, true) | (Operator::Implies, false) => return Ok(1),
            _ => {}
        }
        let b = self.number(right)?;
        let overflow =
            |sign: &'static str| move || format!("{a} {sign} {b} does not fit in 64 bits");
        let divisible = |sign: &str| match b {
            0 => Err(self.fail(
                RuntimeErrorKind::DivisionByZero,
                span,
                format!("{a} {sign} {b} divides by zero"),
            )),
            _ => Ok(()),
        };
        match operator {
            Operator::Add => self.fitting(a.checked_add(b), span, overflow("+")),
            Operator::Subtract => self.fitting(a.checked_sub(b), span, overflow("-")),
            Operator::Multiply => self.fitting(a.checked_mul(b), span, overflow("*")),
            Operator::Divide => {
                divisible("/")?;
                self.fitting(a.checked_div(b), span, overflow("/"))
            }
            Operator::Remainder => {
                divisible("%")?;
                // The one quotient that does not fit leaves the remainder 0.
                Ok(a.wrapping_rem(b))
            }
            Operator::BitAnd => Ok(a & b),
            Operator::BitOr => Ok(a | b),
            Operator::BitXor => Ok(a ^ b),
            Operator::ShiftLeft => Ok(shift(a, i128::from(b))),
            Operator::ShiftRight => Ok(shift(a, -i128::from(b))),
            // The left operand did not decide.
            Operator::And | Operator::Or | Operator::Implies => Ok(b),
            Operator::Equal => Ok(i64::from(a == b)),
            Operator::NotEqual => Ok(i64::from(a != b)),
            Operator::Less => Ok(i64::from(a < b)),
            Operator::LessOrEqual => Ok(i64::from(a <= b)),
            Operator::Greater => Ok(i64::from(a > b)),
            Operator::GreaterOrEqual => Ok(i64::from(a >= b)),
        }
    }

    /// The enumeration or scalarset a value belongs to, and which of its values it is.
    fn member_of(&self, ty: TypeId, value: i64) -> (TypeId, i64) {
        union_member(self.model, ty, value).unwrap_or((ty, value))
    }

    fn convert(&self, value: i64, from: TypeId, to: TypeId, span: Span) -> Result<i64, Stop> {
        let model = self.model;
        let is_union = |ty| matches!(model.simple(ty), Some(Simple::Union(_)));
        if !is_union(from) && !is_union(to) {
            return Ok(value);
        }
        let (member, within) = self.member_of(from, value);
        let offset = if member == to { Some(0) } else { model.union_offset(to, member) };
        match offset {
            Some(offset) => Ok(offset + within),
            None => {
                let value = render_simple(model, from, value);
                let message = format!("{value} is not a value of {}", describe_domain(model, to));
                Err(self.fail(RuntimeErrorKind::NotAMember, span, message))
            }
        }
    }

    /// Refuses a value that a variable of type `ty` cannot hold.
    pub(super) fn admit(&self, value: &Value, ty: TypeId, span: Span) -> Result<(), Stop> {
        let model = self.model;
        let &Value::Simple(Some(value)) = value else {
            return Ok(());
        };
        let above = i128::from(value) - i128::from(model.lowest(ty));
        let everything = matches!(model.simple(ty), Some(Simple::Integer));
        if everything || (0..i128::from(model.count(ty))).contains(&above) {
            return Ok(());
        }
        let message = format!("value {value} is outside {}", describe_domain(model, ty));
        Err(self.fail(RuntimeErrorKind::ValueOutside, span, message))
    }

    /// Calls a function or procedure.
    pub(super) fn call(&mut self, call: &'m Call) -> Result<Option<Value>, Stop> {
        let function = &self.model.functions[call.function.0 as usize];
        let mut slots = Vec::with_capacity(function.frame.locals.len());
        for (argument, parameter) in call.arguments.iter().zip(&function.frame.locals) {
            slots.push(match argument {
                Argument::Value(expression) => {
                    let value = self.evaluate_or_undefined(expression)?;
                    self.admit(&value, parameter.ty, expression.span)?;
                    Slot::Value(value)
                }
                Argument::Reference(place) => Slot::Reference(self.address(place)?),
            });
        }
        let caller = self.recursion;
        self.recursion += u64::from(function.is_recursive);
        if self.recursion > self.model.call_limit {
            return Err(self.called_too_often(call));
        }
        self.calls.push(CallSite { function: function.name.clone(), span: call.span });
        self.memory.enter(&function.frame, slots);
        let flow = match self.recursion > caller {
            true => self.recursive_body(&function.body, call.span)?,
            false => self.block(&function.body)?,
        };
        let result = match (flow, function.result) {
            (Flow::Return(Some((value, span))), Some(ty)) => {
                self.admit(&value, ty, span)?;
                Some(value)
            }
            (_, None) => None,
            (Flow::Next | Flow::Return(None), Some(_)) => {
                let message = format!("function `{}` ended without `return`", function.name);
                return Err(self.fail(RuntimeErrorKind::NoReturn, function.span, message));
            }
        };
        self.memory.leave();
        self.recursion = caller;
        self.calls.pop();
        Ok(result)
    }
}

/// Shifts left by `by` bits, right (keeping the sign) if it is negative. What is shifted out is
/// dropped; beyond the width nothing remains.
fn shift(value: i64, by: i128) -> i64 {
    match by {
        0..=63 => value << by,
        -63..0 => value >> -by,
        _ => 0,
    }
}

/// A simple type in the words of the source: `0..4`, `Proc`.
fn describe_domain(model: &Model, ty: TypeId) -> String {
    match (model.simple(ty), &model.types[ty.0 as usize].name) {
        (Some(Simple::Range { low, high }), _) => format!("{low}..{high}"),
        (_, Some(name)) => name.clone(),
        (Some(Simple::Boolean), None) => "boolean".to_owned(),
        (Some(Simple::Enumeration(members)), None) => format!("{{{}}}", members.join(", ")),
        (Some(Simple::Scalarset(size)), None) => format!("scalarset({size})"),
        (Some(Simple::Union(members)), None) => {
            let members = members.iter().map(|&member| describe_domain(model, member));
            format!("union {{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        _ => "its type".to_owned(),
    }
}
