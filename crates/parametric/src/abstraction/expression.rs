//! Expressions: conditions, values, places and processors.

use murphi::ast::{BinaryOperator, Expression, ExpressionKind, Quantifier, UnaryOperator};

use super::instance::{Decision, Instance, Mode, OTHER, Standing, Step, Stop};
use crate::syntax::{
    and, binary, boolean, expression, implies, index, is_false, is_true, name, named_type, not, or,
    quantified, rebuilt,
};
use crate::types::bind;
use crate::{Choice, Fixed};

/// A place, once it is known which processors are concrete.
pub(super) enum Where {
    Visible(Expression),
    /// It belongs to processors that are not concrete.
    Hidden,
    /// Whether a processor that is not concrete is in a set: this says whether any of them is.
    Member(Expression),
}

/// A processor.
pub(super) enum Who {
    Concrete(Expression),
    Other,
    /// Stored somewhere; it may be either.
    Stored(Expression),
    /// There is none.
    Undefined,
}

impl Instance<'_> {
    /// A condition. What is not known is treated as `mode` says.
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
                Ok(and(left, self.condition(right, mode)?))
            }
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right) => {
                let left = self.condition(left, mode)?;
                if is_true(&left) {
                    return Ok(left);
                }
                Ok(or(left, self.condition(right, mode)?))
            }
            ExpressionKind::Binary(B::Implies, left, right) => {
                let left = self.condition(left, mode.flipped())?;
                if is_false(&left) {
                    return Ok(boolean(true, span));
                }
                Ok(implies(left, self.condition(right, mode)?))
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
        let (left, right) = (self.condition(left, mode)?, self.condition(right, mode)?);
        if is_true(&condition) {
            return Ok(left);
        }
        if is_false(&condition) {
            return Ok(right);
        }
        let otherwise = and(not(condition.clone()), right);
        Ok(or(and(condition, left), otherwise))
    }

    fn quantified(
        &mut self,
        all: bool,
        quantifiers: &[Quantifier],
        condition: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let Some((first, rest)) = quantifiers.split_first() else {
            return self.condition(condition, mode);
        };
        let inner = match rest.is_empty() {
            true => condition.clone(),
            false => quantified(all, rest.to_vec(), condition.clone()),
        };
        let outer = self.scope.clone();
        bind(&mut self.scope, std::slice::from_ref(first));
        self.bound.push(first.name.text.clone());
        let result = match self.types.over_processors(first) {
            true => self.over_processors(all, first, &inner, mode),
            false => self
                .condition(&inner, mode)
                .map(|inner| quantified(all, vec![first.clone()], inner)),
        };
        self.bound.pop();
        self.scope = outer;
        // Something is different for each value of the variable: choose for all at once.
        match result {
            Err(Stop::Bound(_)) if mode == Mode::Exact => {
                let whole = quantified(all, vec![first.clone()], inner);
                self.chosen_truth(&whole)
            }
            other => other,
        }
    }

    /// `forall` or `exists` for all processors.
    fn over_processors(
        &mut self,
        all: bool,
        quantifier: &Quantifier,
        inner: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let variable = quantifier.name.text.clone();
        let shadowed = self.standing.insert(variable.clone(), Standing::Other);
        let exact = match all {
            true => self.all_others(&variable, inner),
            false => self.some_others(&variable, inner),
        };
        if let Some(exact) = exact {
            self.standing.insert(variable.clone(), Standing::Concrete);
            let concrete = self.condition(inner, mode);
            self.restore(&variable, shadowed);
            let concrete = quantified(all, vec![quantifier.clone()], concrete?);
            return Ok(if all { and(concrete, exact) } else { or(concrete, exact) });
        }
        let of_others = self.condition(inner, Mode::Probe);
        let restricts =
            self.restricts && matches!((all, mode), (false, Mode::Weaker) | (true, Mode::Stronger));
        // What holds for the others without anything being known of them.
        let is_neutral = match &of_others {
            Ok(known) => {
                if all {
                    is_true(known)
                } else {
                    is_false(known)
                }
            }
            Err(Stop::Refuse(problem)) => {
                self.restore(&variable, shadowed);
                return Err(Stop::Refuse(problem.clone()));
            }
            Err(_) => false,
        };
        let of_others = match (mode, all) {
            _ if is_neutral => None,
            _ if restricts => {
                self.restricted = true;
                None
            }
            // There may be no others at all.
            (Mode::Weaker, true) | (Mode::Stronger, false) => {
                self.weakened = true;
                None
            }
            (Mode::Weaker | Mode::Stronger, _) => match self.condition(inner, mode) {
                Ok(known) => Some(known),
                Err(stop) => {
                    self.restore(&variable, shadowed);
                    return Err(stop);
                }
            },
            (Mode::Probe, _) => {
                self.restore(&variable, shadowed);
                return Err(Stop::Unknown);
            }
            (Mode::Exact, _) => {
                let whole = quantified(all, vec![quantifier.clone()], inner.clone());
                let position = self.bound.len() - 1;
                let own = self.bound.remove(position);
                let chosen = self.chosen_truth(&whole);
                self.bound.insert(position, own);
                match chosen {
                    Ok(chosen) => Some(chosen),
                    Err(stop) => {
                        self.restore(&variable, shadowed);
                        return Err(stop);
                    }
                }
            }
        };
        self.standing.insert(variable.clone(), Standing::Concrete);
        // What is claimed of the concrete ones alone must not rest on what is not known.
        let mode = if restricts { mode.flipped() } else { mode };
        let outer = self.restricts;
        self.restricts &= !restricts;
        let concrete = self.condition(inner, mode);
        self.restricts = outer;
        self.restore(&variable, shadowed);
        let concrete = quantified(all, vec![quantifier.clone()], concrete?);
        Ok(match (of_others, all) {
            (None, _) => concrete,
            (Some(others), true) => and(concrete, others),
            (Some(others), false) => or(concrete, others),
        })
    }

    pub(super) fn restore(&mut self, variable: &str, shadowed: Option<Standing>) {
        match shadowed {
            Some(standing) => self.standing.insert(variable.to_owned(), standing),
            None => self.standing.remove(variable),
        };
    }

    /// A condition without connectives.
    fn atom(&mut self, whole: &Expression, mode: Mode) -> Step<Expression> {
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
                    Ok(Where::Member(any)) => {
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
        self.weakened |= matches!(result, Err(Stop::Unknown));
        match (result, mode) {
            (Err(Stop::Unknown), Mode::Weaker) => Ok(boolean(true, whole.span)),
            (Err(Stop::Unknown), Mode::Stronger) => Ok(boolean(false, whole.span)),
            // Evaluating it is an error, which is found where all is concrete.
            (Err(Stop::Undefined), Mode::Weaker) => Ok(boolean(false, whole.span)),
            (Err(Stop::Undefined), Mode::Stronger) => Ok(boolean(true, whole.span)),
            (Err(Stop::Split(stored)), Mode::Weaker | Mode::Stronger) => {
                self.split(&stored, whole, mode)
            }
            (result, _) => result,
        }
    }

    /// A condition for both cases of a stored processor.
    fn split(&mut self, stored: &Expression, whole: &Expression, mode: Mode) -> Step<Expression> {
        let before = self.clone();
        self.learn(stored, Standing::Other);
        let other = self.atom(whole, mode)?;
        self.leave_branch(&before);
        self.learn(stored, Standing::Concrete);
        let concrete = self.atom(whole, mode)?;
        self.leave_branch(&before);
        let is_other = binary(BinaryOperator::Equal, stored.clone(), name(OTHER, stored.span));
        if is_true(&other) {
            return Ok(or(is_other, concrete));
        }
        if is_false(&other) {
            return Ok(and(not(is_other), concrete));
        }
        let first = and(is_other.clone(), other);
        Ok(or(first, and(not(is_other), concrete)))
    }

    fn is_undefined(
        &mut self,
        whole: &Expression,
        place: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        match self.place(place, mode.strict())? {
            Where::Visible(place) => {
                let kind = ExpressionKind::IsUndefined(Box::new(place));
                Ok(expression(kind, whole.span))
            }
            // That it is read somewhere does not say that it has a value here.
            Where::Hidden | Where::Member(_) => match self.chosen(place, true) {
                Some(choice) => Ok(boolean(choice.fixed == Some(Fixed::Undefined), whole.span)),
                None if mode == Mode::Exact => self.chosen_truth(whole),
                None => self.known_truth(whole).ok_or(Stop::Unknown),
            },
        }
    }

    /// A boolean that was chosen for a condition.
    fn known_truth(&self, whole: &Expression) -> Option<Expression> {
        let choice = self.chosen(whole, false)?;
        choice.name.as_ref().map(|parameter| name(parameter, whole.span))
    }

    /// A boolean that is chosen for a condition.
    fn chosen_truth(&mut self, whole: &Expression) -> Step<Expression> {
        if let Some(known) = self.known_truth(whole) {
            return Ok(known);
        }
        let ty = named_type("boolean", whole.span);
        let choice = self.choose(whole, ty, false, &[])?;
        Ok(name(choice.name.as_deref().unwrap_or("true"), whole.span))
    }

    // Processors.

    pub(super) fn is_processor(&self, whole: &Expression) -> bool {
        self.types.of(&self.scope, whole).is_some_and(|ty| self.types.is_processor(&ty))
    }

    fn same_processor(
        &mut self,
        whole: &Expression,
        left: &Expression,
        right: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let span = whole.span;
        let is_same_name = matches!((&left.kind, &right.kind),
            (ExpressionKind::Name(left), ExpressionKind::Name(right)) if left == right);
        if is_same_name {
            return Ok(boolean(true, span));
        }
        let first = self.who(left, mode.strict())?;
        let second = self.who(right, mode.strict())?;
        let equal = |left, right| binary(BinaryOperator::Equal, left, right);
        let other = name(OTHER, span);
        let equation = || equal(left.clone(), right.clone());
        match (first, second) {
            (Who::Undefined, _) | (_, Who::Undefined) => Err(Stop::Undefined),
            (Who::Concrete(left), Who::Concrete(right))
            | (Who::Concrete(left), Who::Stored(right))
            | (Who::Stored(left), Who::Concrete(right)) => Ok(equal(left, right)),
            (Who::Concrete(_), Who::Other) | (Who::Other, Who::Concrete(_)) => {
                Ok(boolean(false, span))
            }
            (Who::Stored(left), Who::Stored(right)) => {
                let same = equal(left.clone(), right);
                match mode {
                    Mode::Weaker => Ok(same),
                    Mode::Stronger => Ok(and(same, not(equal(left, other)))),
                    Mode::Probe => Err(Stop::Unknown),
                    Mode::Exact => {
                        let chosen = self.chosen_truth(&equation())?;
                        Ok(and(same, or(not(equal(left, other)), chosen)))
                    }
                }
            }
            (Who::Stored(stored), Who::Other) | (Who::Other, Who::Stored(stored)) => {
                let is_other = equal(stored, other);
                match mode {
                    Mode::Weaker => Ok(match self.known_truth(&equation()) {
                        Some(known) => and(is_other, known),
                        None => is_other,
                    }),
                    Mode::Stronger => Ok(match self.known_truth(&equation()) {
                        Some(known) => and(is_other, known),
                        None => boolean(false, span),
                    }),
                    Mode::Probe => Err(Stop::Unknown),
                    Mode::Exact => Ok(and(is_other, self.chosen_truth(&equation())?)),
                }
            }
            (Who::Other, Who::Other) => match mode {
                Mode::Exact => self.chosen_truth(&equation()),
                _ => self.known_truth(&equation()).ok_or(Stop::Unknown),
            },
        }
    }

    /// Which processor an expression is.
    pub(super) fn who(&mut self, whole: &Expression, mode: Mode) -> Step<Who> {
        if let ExpressionKind::Name(variable) = &whole.kind
            && let Some(standing) = self.standing.get(variable)
        {
            return Ok(match standing {
                Standing::Concrete => Who::Concrete(whole.clone()),
                Standing::Other => Who::Other,
            });
        }
        if matches!(whole.kind, ExpressionKind::Undefined) {
            return Ok(Who::Undefined);
        }
        match self.place(whole, mode)? {
            Where::Visible(place) => Ok(match self.standing_of(&place) {
                Some(Standing::Concrete) => Who::Concrete(place),
                Some(Standing::Other) => Who::Other,
                None => Who::Stored(place),
            }),
            Where::Hidden | Where::Member(_) => {
                let choice = self.choice(whole, mode, false)?;
                Ok(processor_of(&choice, whole))
            }
        }
    }

    // Values.

    /// The choice that stands for a hidden place; made if there is none yet and `mode` allows it.
    pub(super) fn choice(&mut self, place: &Expression, mode: Mode, copy: bool) -> Step<Choice> {
        if let Some(choice) = self.chosen(place, copy) {
            return Ok(choice.clone());
        }
        if mode != Mode::Exact {
            return Err(Stop::Unknown);
        }
        let Some(ty) = self.types.of(&self.scope, place) else {
            return Err(Stop::refuse(place.span, "the type of this is not evident", "declare it"));
        };
        let mut alternatives = Vec::new();
        if self.types.is_processor(&ty) {
            alternatives.push(Decision::Other);
        }
        if copy {
            alternatives.push(Decision::Undefined);
        }
        self.choose(place, ty, copy, &alternatives)
    }

    /// A value that is no processor.
    pub(super) fn value(&mut self, whole: &Expression, mode: Mode) -> Step<Expression> {
        use BinaryOperator as B;
        match &whole.kind {
            ExpressionKind::Integer(_) | ExpressionKind::Real(_) | ExpressionKind::Undefined => {
                Ok(whole.clone())
            }
            ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
                if self.is_processor(whole) {
                    let message = "a processor cannot be used like this";
                    return Err(Stop::refuse(
                        whole.span,
                        message,
                        "compare it, store it or index \
                         by it",
                    ));
                }
                match self.place(whole, mode)? {
                    Where::Visible(place) => Ok(place),
                    Where::Hidden => {
                        let choice = self.choice(whole, mode, false)?;
                        match (&choice.name, choice.fixed) {
                            (Some(parameter), _) => Ok(name(parameter, whole.span)),
                            (None, _) => Err(Stop::Undefined),
                        }
                    }
                    Where::Member(any) => match mode {
                        Mode::Exact => Ok(and(any, self.chosen_truth(whole)?)),
                        _ => self
                            .known_truth(whole)
                            .map(|known| and(any, known))
                            .ok_or(Stop::Unknown),
                    },
                }
            }
            ExpressionKind::Unary(UnaryOperator::Not, _)
            | ExpressionKind::Binary(
                B::And | B::Or | B::Implies | B::LogicalAnd | B::LogicalOr,
                ..,
            )
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::IsUndefined(_) => self.condition(whole, mode.strict()),
            ExpressionKind::Binary(B::Equal | B::NotEqual, left, right)
                if self.is_processor(left) || self.is_processor(right) =>
            {
                self.condition(whole, mode.strict())
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
                let (left, right) = (self.value(left, mode)?, self.value(right, mode)?);
                let [condition, left, right] = [condition, left, right].map(Box::new);
                Ok(expression(ExpressionKind::Conditional(condition, left, right), whole.span))
            }
            ExpressionKind::IsMember(..) | ExpressionKind::MultisetCount(_) => {
                let mut stop = None;
                let done = rebuilt(whole, &mut |part| match self.value(part, mode) {
                    Ok(done) => done,
                    Err(found) => {
                        stop.get_or_insert(found);
                        part.clone()
                    }
                });
                stop.map_or(Ok(done), Err)
            }
            ExpressionKind::Call(call) => Err(Stop::refuse(
                call.name.span,
                "a call cannot be abstracted",
                "write out what it returns",
            )),
        }
    }

    /// Whether two members of an enumeration are the same, or different, as an operator says.
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

    /// Whether a place is indexed by a parameter or loop variable that is not concrete.
    fn belongs_to_other(&self, place: &Expression) -> bool {
        match &place.kind {
            ExpressionKind::Field(inner, _) => self.belongs_to_other(inner),
            ExpressionKind::Index(inner, at) => {
                let is_other = matches!(&at.kind, ExpressionKind::Name(name)
                    if self.standing.get(name) == Some(&Standing::Other));
                (is_other && !self.is_set(inner)) || self.belongs_to_other(inner)
            }
            _ => false,
        }
    }

    /// Where a place is.
    pub(super) fn place(&mut self, whole: &Expression, mode: Mode) -> Step<Where> {
        if self.belongs_to_other(whole) {
            return Ok(Where::Hidden);
        }
        match &whole.kind {
            ExpressionKind::Field(inner, field) => Ok(match self.place(inner, mode)? {
                Where::Visible(inner) => Where::Visible(expression(
                    ExpressionKind::Field(Box::new(inner), field.clone()),
                    whole.span,
                )),
                Where::Hidden | Where::Member(_) => Where::Hidden,
            }),
            ExpressionKind::Index(array, at) => {
                let Where::Visible(inner) = self.place(array, mode)? else {
                    return Ok(Where::Hidden);
                };
                let ty = self.types.of(&self.scope, array);
                let by_processor = ty
                    .and_then(|ty| self.types.array(&ty))
                    .is_some_and(|(index, _)| self.types.is_processor(&index));
                if !by_processor {
                    return Ok(Where::Visible(index(inner, self.value(at, mode)?)));
                }
                match self.who(at, mode)? {
                    Who::Concrete(at) => Ok(Where::Visible(index(inner, at))),
                    Who::Other if self.is_set(array) => {
                        let other = name(OTHER, at.span);
                        Ok(Where::Member(index(inner, other)))
                    }
                    Who::Other => Ok(Where::Hidden),
                    Who::Stored(at) => Err(Stop::Split(at)),
                    Who::Undefined => Err(Stop::Undefined),
                }
            }
            _ => Ok(Where::Visible(whole.clone())),
        }
    }
}

/// The processor that a choice is.
pub(super) fn processor_of(choice: &Choice, at: &Expression) -> Who {
    match (&choice.name, choice.fixed) {
        (Some(parameter), _) => Who::Concrete(name(parameter, at.span)),
        (None, Some(Fixed::Other)) => Who::Other,
        (None, _) => Who::Undefined,
    }
}
