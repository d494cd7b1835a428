//! Expressions: conditions and values.
//!
//! Transformation T11 of docs/abstraction.md for what rules ask, and C1 for what is claimed. With p =
//! `Other` and `cache[p].state` unknown:
//!
//! ```text
//! in a guard:         cache[p].state = M & busy   becomes   busy
//! in a statement:     if cache[p].state = M …     becomes   if cache_p_state = M …, by choice
//! in a claim, where owner is not concrete:  cache[owner].state = M   becomes   true
//! ```

use murphi::ast::{BinaryOperator, Expression, ExpressionKind, MultisetFilter, UnaryOperator};
use murphi::source::Span;
use murphi::transform::{
    and, binary, boolean, expression, implies, is_false, is_true, name, named_type, not, or, parts,
    try_rebuilt,
};

use super::instance::{Decision, Instance, Mode, Obstacle, ProcessorKind, Step, outside};
use super::places::Visibility;
use crate::{Choice, Fixed};

impl Instance<'_> {
    /// Abstracts a condition; `mode` says how an unknown value is treated.
    pub(super) fn condition(&mut self, whole: &Expression, mode: Mode) -> Step<Expression> {
        use BinaryOperator as B;
        let span = whole.span;
        match &whole.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                Ok(not(self.condition(inner, mode.flipped())?))
            }
            ExpressionKind::Binary(B::And | B::LogicalAnd, left, right) => {
                let left = self.condition(left, mode)?;
                if is_false(&left) {
                    return Ok(left);
                }
                let right = self.condition(right, mode);
                let right = if is_true(&left) { right } else { unless_reached(right, false, span) };
                Ok(and(left, right?))
            }
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right) => {
                let left = self.condition(left, mode)?;
                if is_true(&left) {
                    return Ok(left);
                }
                let right = self.condition(right, mode);
                let right = if is_false(&left) { right } else { unless_reached(right, true, span) };
                Ok(or(left, right?))
            }
            ExpressionKind::Binary(B::Implies, left, right) => {
                let left = self.condition(left, mode.flipped())?;
                if is_false(&left) {
                    return Ok(boolean(true, span));
                }
                let right = self.condition(right, mode);
                let right = if is_true(&left) { right } else { unless_reached(right, true, span) };
                Ok(implies(left, right?))
            }
            ExpressionKind::Conditional(condition, left, right) => {
                self.conditional(condition, left, right, mode)
            }
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                self.quantified(*all, quantifiers, condition, mode)
            }
            _ => self.atom(whole, mode),
        }
    }

    fn conditional(
        &mut self,
        condition: &Expression,
        left: &Expression,
        right: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        if matches!(mode, Mode::Weaker | Mode::Stronger) {
            let then = and(self.condition(condition, mode)?, self.condition(left, mode)?);
            let otherwise = not(self.condition(condition, mode.flipped())?);
            return Ok(or(then, and(otherwise, self.condition(right, mode)?)));
        }
        let condition = self.condition(condition, mode)?;
        if is_true(&condition) {
            return self.condition(left, mode);
        }
        if is_false(&condition) {
            return self.condition(right, mode);
        }
        let both = one_of(self.condition(left, mode), self.condition(right, mode))?;
        Ok(match both {
            OneOf::Either(left, right) => {
                let otherwise = and(not(condition.clone()), right);
                or(and(condition, left), otherwise)
            }
            OneOf::Only(known) => known,
        })
    }

    /// The constant that replaces an unknown condition: it lets a rule do more, and makes a claim
    /// fail.
    pub(super) fn unknown(&self, mode: Mode, span: Span) -> Expression {
        boolean((mode == Mode::Weaker) != self.restricts, span)
    }

    /// The constant that replaces a part of a claim that another view decides: the claim holds in
    /// this one.
    fn vacuous(mode: Mode, span: Span) -> Expression {
        boolean(mode == Mode::Weaker, span)
    }

    /// Whether a condition reads the state of a stored processor that is known not to be concrete.
    /// Such a claim is decided in views in which that processor is concrete: it is among the
    /// processors that the claim requires.
    fn looks_outside(&self, whole: &Expression) -> bool {
        let is_outside = match &whole.kind {
            ExpressionKind::Index(_, at) => {
                self.is_processor(at)
                    && matches!(
                        self.standing_of(at),
                        Some(ProcessorKind::Other | ProcessorKind::Named | ProcessorKind::Outside)
                    )
            }
            _ => false,
        };
        is_outside || parts(whole).into_iter().any(|part| self.looks_outside(part))
    }

    /// Abstracts a condition without connectives.
    fn atom(&mut self, whole: &Expression, mode: Mode) -> Step<Expression> {
        let is_claim = self.restricts && matches!(mode, Mode::Weaker | Mode::Stronger);
        if is_claim && self.looks_outside(whole) {
            return Ok(Self::vacuous(mode, whole.span));
        }
        // If only a part of the state is kept, the choice is the truth of the condition rather than
        // the values in it.
        if mode == Mode::Exact && self.types.leaves_something_out() {
            return match self.atom(whole, Mode::Probe) {
                Err(Obstacle::Unknown) => self.chosen_truth(whole),
                known => known,
            };
        }
        let result = match &whole.kind {
            ExpressionKind::Binary(
                operator @ (BinaryOperator::Equal | BinaryOperator::NotEqual),
                left,
                right,
            ) if self.is_processor(left) || self.is_processor(right) => {
                let equal = *operator == BinaryOperator::Equal;
                let inner = if equal { mode } else { mode.flipped() };
                let same = self.same_processor(whole, left, right, inner);
                same.map(|same| if equal { same } else { not(same) })
            }
            ExpressionKind::IsUndefined(place) => self.is_undefined(whole, place, mode),
            ExpressionKind::Index(..) if mode == Mode::Weaker => {
                match self.place(whole, Mode::Probe) {
                    Ok(Visibility::Member(any)) => {
                        self.weakened = true;
                        Ok(match self.known_truth(whole) {
                            Some(known) => and(any, known),
                            None => any,
                        })
                    }
                    Err(stop) => Err(stop),
                    Ok(_) => self.value(whole, Mode::Probe),
                }
            }
            _ => self.value(whole, mode.strict()),
        };
        self.weakened |= matches!(result, Err(Obstacle::Unknown));
        match (result, mode) {
            // Two stored processors that are both abstract: a view in which one of them is concrete
            // or known by name decides.
            (Err(Obstacle::Unknown), _) if is_claim && self.compares_processors(whole) => {
                Ok(Self::vacuous(mode, whole.span))
            }
            (Err(Obstacle::Unknown), Mode::Weaker | Mode::Stronger) => {
                Ok(self.unknown(mode, whole.span))
            }
            // Evaluating it is an error, which is claimed in the views in which the processors are
            // concrete.
            (Err(Obstacle::Undefined), Mode::Weaker) => Ok(boolean(false, whole.span)),
            (Err(Obstacle::Undefined), Mode::Stronger) => Ok(boolean(true, whole.span)),
            (Err(Obstacle::Split(stored)), Mode::Weaker | Mode::Stronger) => {
                self.split(&stored, whole, mode)
            }
            (result, _) => result,
        }
    }

    /// Abstracts a condition for each case of a stored processor: concrete or not.
    fn split(&mut self, stored: &Expression, whole: &Expression, mode: Mode) -> Step<Expression> {
        let before = self.clone();
        self.learn(stored, ProcessorKind::Concrete);
        let mut done = self.atom(whole, mode)?;
        self.leave_branch(&before);
        for (processor_kinds, called) in outside(self.types) {
            self.learn(stored, *processor_kinds);
            let outside = self.atom(whole, mode)?;
            self.leave_branch(&before);
            let called = name(called, stored.span);
            let is_it = binary(BinaryOperator::Equal, stored.clone(), called);
            done = if is_true(&outside) {
                or(is_it, done)
            } else if is_false(&outside) {
                and(not(is_it), done)
            } else {
                or(and(is_it.clone(), outside), and(not(is_it), done))
            };
        }
        Ok(done)
    }

    fn is_undefined(
        &mut self,
        whole: &Expression,
        place: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        match self.place(place, mode.strict())? {
            Visibility::Visible(place) => {
                let kind = ExpressionKind::IsUndefined(Box::new(place));
                Ok(expression(kind, whole.span))
            }
            // That the place is read elsewhere does not imply that it is defined here.
            Visibility::Hidden | Visibility::Member(_) => match self.chosen(place, true) {
                Some(choice) => Ok(boolean(choice.fixed == Some(Fixed::Undefined), whole.span)),
                None if mode == Mode::Exact => self.chosen_truth(whole),
                None => self.known_truth(whole).ok_or(Obstacle::Unknown),
            },
        }
    }

    /// The boolean parameter that stands for a condition, if there is one.
    pub(super) fn known_truth(&self, whole: &Expression) -> Option<Expression> {
        let choice = self.chosen(whole, false)?;
        choice.name.as_ref().map(|parameter| name(parameter, whole.span))
    }

    /// Adds a boolean parameter that stands for a condition.
    pub(super) fn chosen_truth(&mut self, whole: &Expression) -> Step<Expression> {
        if let Some(known) = self.known_truth(whole) {
            return Ok(known);
        }
        let ty = named_type("boolean", whole.span);
        let choice = self.choose(whole, ty, false, &[])?;
        Ok(name(choice.name.as_deref().unwrap_or("true"), whole.span))
    }

    // Values.

    /// The choice that stands for a hidden place; it is added if `mode` allows that.
    pub(super) fn choice(&mut self, place: &Expression, mode: Mode, copy: bool) -> Step<Choice> {
        if let Some(choice) = self.chosen(place, copy) {
            return Ok(choice.clone());
        }
        if mode != Mode::Exact {
            return Err(Obstacle::Unknown);
        }
        let Some(ty) = self.types.of(&self.scope, place) else {
            return Err(Obstacle::refuse(
                place.span,
                "the type of this expression cannot be determined",
                "declare a variable of that type for it",
            ));
        };
        let is_set = copy && self.is_set(place);
        if !is_set && !self.types.is_simple(&ty) {
            let message = "a record or array that belongs to a processor is used as a whole";
            return Err(Obstacle::refuse(place.span, message, "use its parts one by one"));
        }
        let mut alternatives = Vec::new();
        if self.types.is_processor(&ty) {
            alternatives.push(Decision::Other);
            if self.types.has_named() {
                alternatives.push(Decision::Named);
            }
        }
        if copy {
            alternatives.push(Decision::Undefined);
        }
        self.choose(place, ty, copy, &alternatives)
    }

    /// Abstracts a value that is not a processor.
    pub(super) fn value(&mut self, whole: &Expression, mode: Mode) -> Step<Expression> {
        use BinaryOperator as B;
        match &whole.kind {
            ExpressionKind::Integer(_) | ExpressionKind::Real(_) | ExpressionKind::Undefined => {
                Ok(whole.clone())
            }
            ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
                if self.is_processor(whole) {
                    let message = "a processor cannot be used in this way";
                    let help = "compare it, store it or index by it";
                    return Err(Obstacle::refuse(whole.span, message, help));
                }
                match self.place(whole, mode)? {
                    Visibility::Visible(place) => Ok(place),
                    Visibility::Hidden => {
                        if let Some(member) = self.chosen_member(whole, mode) {
                            return member;
                        }
                        let choice = self.choice(whole, mode, false)?;
                        match (&choice.name, choice.fixed) {
                            (Some(parameter), _) => Ok(name(parameter, whole.span)),
                            (None, _) => Err(Obstacle::Undefined),
                        }
                    }
                    Visibility::Member(any) => match mode {
                        Mode::Exact => Ok(and(any, self.chosen_truth(whole)?)),
                        _ => self
                            .known_truth(whole)
                            .map(|known| and(any, known))
                            .ok_or(Obstacle::Unknown),
                    },
                }
            }
            ExpressionKind::Binary(B::And | B::Or, ..)
                if self.types.is_number(&self.scope, whole) =>
            {
                try_rebuilt(whole, &mut |part| self.value(part, mode))
            }
            ExpressionKind::Unary(UnaryOperator::Not, _)
            | ExpressionKind::Binary(
                B::And | B::Or | B::Implies | B::LogicalAnd | B::LogicalOr,
                ..,
            )
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::IsUndefined(_) => self.condition(whole, mode.strict()),
            _ if self.compares_processors(whole) => self.condition(whole, mode.strict()),
            ExpressionKind::Binary(B::Equal | B::NotEqual, left, _) if self.is_whole(left) => {
                let message = "this compares records or arrays that belong to processors, or \
                               refer to them, as a whole";
                Err(Obstacle::refuse(whole.span, message, "compare the parts one by one"))
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.value(left, mode)?;
                if let Some(known) = self.compared(*operator, &left, right) {
                    return Ok(boolean(known, whole.span));
                }
                Ok(Expression {
                    span: whole.span,
                    ..binary(*operator, left, self.value(right, mode)?)
                })
            }
            ExpressionKind::Unary(operator, inner) => {
                let inner = Box::new(self.value(inner, mode)?);
                Ok(expression(ExpressionKind::Unary(*operator, inner), whole.span))
            }
            ExpressionKind::Conditional(condition, left, right) => {
                let condition = self.condition(condition, mode.strict())?;
                if is_true(&condition) {
                    return self.value(left, mode);
                }
                if is_false(&condition) {
                    return self.value(right, mode);
                }
                let both = one_of(self.value(left, mode), self.value(right, mode))?;
                let (left, right) = match both {
                    OneOf::Either(left, right) => (left, right),
                    OneOf::Only(known) => return Ok(known),
                };
                let [condition, left, right] = [condition, left, right].map(Box::new);
                Ok(expression(ExpressionKind::Conditional(condition, left, right), whole.span))
            }
            ExpressionKind::MultisetCount(filter) => self.multiset_count(filter, whole.span, mode),
            ExpressionKind::IsMember(..) => try_rebuilt(whole, &mut |part| self.value(part, mode)),
            ExpressionKind::Call(call) => Err(Obstacle::refuse(
                call.name.span,
                "this call cannot be abstracted",
                "replace it by the expression that it returns",
            )),
        }
    }

    /// Abstracts the number of elements of a multiset that satisfy a condition. An unknown value
    /// must be the same for all elements.
    fn multiset_count(
        &mut self,
        filter: &MultisetFilter,
        span: Span,
        mode: Mode,
    ) -> Step<Expression> {
        let multiset = self.value(&filter.multiset, mode)?;
        self.bound.push(filter.name.text.clone());
        let condition = self.condition(&filter.condition, mode.strict());
        self.bound.pop();
        // If the multiset is empty, the condition is not evaluated and there is no error.
        if matches!(condition, Err(Obstacle::Undefined)) {
            return Ok(expression(ExpressionKind::Integer(0), span));
        }
        let condition = Box::new(condition?);
        let filter = MultisetFilter { multiset: Box::new(multiset), condition, ..filter.clone() };
        Ok(expression(ExpressionKind::MultisetCount(filter), span))
    }

    fn compares_processors(&self, whole: &Expression) -> bool {
        match &whole.kind {
            ExpressionKind::Binary(
                BinaryOperator::Equal | BinaryOperator::NotEqual,
                left,
                right,
            ) => self.is_processor(left) || self.is_processor(right),
            _ => false,
        }
    }

    /// Whether a place has components, some of which concern processors.
    fn is_whole(&self, place: &Expression) -> bool {
        self.types.of(&self.scope, place).is_some_and(|ty| self.types.mentions_processors(&ty))
    }

    /// The comparison of two constants of an enumeration.
    fn compared(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<bool> {
        let (ExpressionKind::Name(left), ExpressionKind::Name(right)) = (&left.kind, &right.kind)
        else {
            return None;
        };
        let are_members = self.types.is_member(left) && self.types.is_member(right);
        match operator {
            BinaryOperator::Equal if are_members => Some(left == right),
            BinaryOperator::NotEqual if are_members => Some(left != right),
            _ => None,
        }
    }
}

/// A part of a condition that is not evaluated in all cases. If its evaluation is an error, the
/// condition is decided before, and the value is known.
fn unless_reached(part: Step<Expression>, otherwise: bool, span: Span) -> Step<Expression> {
    match part {
        Err(Obstacle::Undefined) => Ok(boolean(otherwise, span)),
        known => known,
    }
}

/// Two expressions, one of which is evaluated.
enum OneOf {
    Either(Expression, Expression),
    /// Evaluating the other one is an error.
    Only(Expression),
}

fn one_of(left: Step<Expression>, right: Step<Expression>) -> Step<OneOf> {
    match (left, right) {
        (Ok(known), Err(Obstacle::Undefined)) | (Err(Obstacle::Undefined), Ok(known)) => {
            Ok(OneOf::Only(known))
        }
        (left, right) => Ok(OneOf::Either(left?, right?)),
    }
}
