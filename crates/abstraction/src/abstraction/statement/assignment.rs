//! What a place becomes: assigned, undefined or cleared.
//!
//! Nothing shows where the place is not kept. Where it says whether any of the others is in a set,
//! adding one makes it true, and taking one out leaves it open if there are more. A value that is not
//! kept is anything, by choice; of a record that is so for each field on its own.
//!
//! Transformations T8 and T10 of docs/abstraction.md, with p = `Other`:
//!
//! ```text
//! before: d[p] := v; memory := d[p]; sharers[p] := false;
//! after:  memory := d_p; sharers[Other] := sharers[Other] & more;
//! ```

use murphi::ast::{Expression, ExpressionKind, Statement, StatementKind};
use murphi::source::Span;
use murphi::transform::{
    and, assign, boolean, field, is_false, is_place, is_true, name, statement, when,
};

use crate::abstraction::instance::{Instance, Mode, NAMED, OTHER, Obstacle, ProcessorKind, Step};
use crate::abstraction::places::Visibility;
use crate::abstraction::processors::{ProcessorValue, processor_of};

impl Instance<'_> {
    pub(super) fn assignment(
        &mut self,
        target: &Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let place = match self.place(target, Mode::Exact)? {
            Visibility::Visible(place) => place,
            Visibility::Hidden => {
                self.wrote(target);
                return Ok(Vec::new());
            }
            Visibility::Member(any) => return self.member_assigned(target, any, value, span),
        };
        if self.is_processor(target) {
            return Ok(vec![self.processor_assigned(target, place, value, span)?]);
        }
        let source = match is_place(value) {
            true => Some(self.place(value, Mode::Exact)?),
            false => None,
        };
        match source {
            Some(Visibility::Visible(value)) => {
                self.wrote(target);
                Ok(vec![assign(place, value, span)])
            }
            Some(Visibility::Hidden) => self.hidden_copied(target, place, value, span),
            Some(Visibility::Member(_)) | None => {
                let done = match &value.kind {
                    ExpressionKind::Undefined => undefined(place, span),
                    _ => assign(place, self.value(value, Mode::Exact)?, span),
                };
                self.wrote(target);
                Ok(vec![done])
            }
        }
    }

    pub(super) fn undefine(&mut self, place: &Expression, span: Span) -> Step<Vec<Statement>> {
        let found = self.place(place, Mode::Exact)?;
        self.wrote(place);
        Ok(match found {
            Visibility::Visible(place) => vec![undefined(place, span)],
            Visibility::Hidden => Vec::new(),
            Visibility::Member(any) => vec![self.removed(any, span)?],
        })
    }

    pub(super) fn clear(&mut self, place: &Expression, span: Span) -> Step<Vec<Statement>> {
        let found = self.place(place, Mode::Exact)?;
        self.wrote(place);
        let ty = self.types.of(&self.scope, place);
        match found {
            Visibility::Hidden => Ok(Vec::new()),
            Visibility::Member(any) => Ok(vec![self.removed(any, span)?]),
            Visibility::Visible(_) if ty.is_none_or(|ty| self.types.stores_processors(&ty)) => {
                let message = "`clear` assigns one particular processor";
                Err(Obstacle::refuse(span, message, "use `undefine`, or assign"))
            }
            Visibility::Visible(place) => Ok(vec![statement(StatementKind::Clear(place), span)]),
        }
    }

    /// An abstract processor is added to a set or removed from it; `any` is the element that says
    /// whether the set has one.
    fn member_assigned(
        &mut self,
        target: &Expression,
        any: Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let value = match &value.kind {
            ExpressionKind::Undefined => boolean(false, span),
            _ => self.value(value, Mode::Exact)?,
        };
        self.wrote(target);
        if is_true(&value) {
            return Ok(vec![assign(any, value, span)]);
        }
        let removed = self.removed(any.clone(), span)?;
        if is_false(&value) {
            return Ok(vec![removed]);
        }
        let added = assign(any, boolean(true, span), span);
        Ok(when(value, vec![added], vec![removed], span))
    }

    /// An abstract processor leaves a set: others may still be in it.
    fn removed(&mut self, any: Expression, span: Span) -> Step<Statement> {
        let more = self.choose_anew(any.clone(), None)?;
        Ok(assign(any.clone(), and(any, more), span))
    }

    /// A processor is stored in a place that is kept; from then on its kind is known.
    fn processor_assigned(
        &mut self,
        target: &Expression,
        place: Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Statement> {
        let processor_value = self.assigned_processor(value)?;
        self.wrote(target);
        let (processor_kinds, value) = match processor_value {
            ProcessorValue::Concrete(value) => (ProcessorKind::Concrete, value),
            ProcessorValue::Other => (ProcessorKind::Other, name(OTHER, span)),
            ProcessorValue::Named => (ProcessorKind::Named, name(NAMED, span)),
            ProcessorValue::Outside => {
                let message = "the processor stored here differs in each iteration";
                return Err(Obstacle::refuse(span, message, "store it outside the loop"));
            }
            ProcessorValue::Stored(value) => return Ok(assign(place, value, span)),
            ProcessorValue::Undefined => return Ok(undefined(place, span)),
        };
        self.learn(&place, processor_kinds);
        Ok(assign(place, value, span))
    }

    /// The processor that is assigned; it may be undefined.
    fn assigned_processor(&mut self, value: &Expression) -> Step<ProcessorValue> {
        let is_part = matches!(value.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..));
        if is_part && matches!(self.place(value, Mode::Exact)?, Visibility::Hidden) {
            let choice = self.choice(value, Mode::Exact, true)?;
            return Ok(processor_of(&choice, value));
        }
        self.processor_value(value, Mode::Exact)
    }

    /// A hidden value is copied to a place that is kept.
    fn hidden_copied(
        &mut self,
        target: &Expression,
        place: Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let ty = self.types.of(&self.scope, value);
        if let Some(fields) = ty.as_ref().and_then(|ty| self.types.fields(ty)) {
            let mut done = Vec::new();
            for (part, _) in fields {
                let (to, from) = (field(target.clone(), &part), field(value.clone(), &part));
                done.extend(self.assignment(&to, &from, span)?);
            }
            return Ok(done);
        }
        if self.is_set(value) {
            let done = self.set_copied(&place, value, span);
            self.wrote(target);
            return done;
        }
        if ty.is_none_or(|ty| !self.types.is_simple(&ty)) {
            let message = "an array of another processor is copied";
            return Err(Obstacle::refuse(span, message, "copy its elements one by one"));
        }
        let choice = self.choice(value, Mode::Exact, true)?;
        self.wrote(target);
        Ok(vec![match &choice.name {
            Some(parameter) => assign(place, name(parameter, span), span),
            None => undefined(place, span),
        }])
    }
}

fn undefined(place: Expression, span: Span) -> Statement {
    statement(StatementKind::Undefine(place), span)
}
