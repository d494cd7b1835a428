//! Designators: variables and parts of them, to be read or to be changed.

use super::constants::value_of;
use super::scope::{Access, Root, Symbol};
use super::suggest::closest;
use super::{Check, Checker, Reported};
use crate::ast::{self, ExpressionKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{Base, LocalId, Place, Simple, Step, Storage, TypeId, TypeKind};
use crate::source::Span;

/// What a designator turns out to be.
pub(super) enum Designator {
    /// Something stored.
    Place(Place),
    /// A constant.
    Constant { ty: TypeId, value: i64 },
}

impl Checker<'_> {
    /// A name, field or element. Anything else is no designator.
    pub(super) fn designator(&mut self, written: &ast::Expression) -> Check<Designator> {
        match &written.kind {
            ExpressionKind::Name(name) => self.named(name, written.span),
            ExpressionKind::Field(record, field) => {
                let place = self.place(record)?;
                self.field(place, field, written.span).map(Designator::Place)
            }
            ExpressionKind::Index(array, index) => {
                let place = self.place(array);
                let index = self.expression(index);
                let (place, index) = (place?, index?);
                self.element(place, index, written.span).map(Designator::Place)
            }
            _ => {
                let message = "this is not a variable or a part of one";
                Err(self.error(Diagnostic::error(written.span, message)))
            }
        }
    }

    /// Something stored, to be read.
    pub(super) fn place(&mut self, written: &ast::Expression) -> Check<Place> {
        match self.designator(written)? {
            Designator::Place(place) => Ok(place),
            Designator::Constant { .. } => {
                let text = self.text(written.span);
                let message = format!("`{text}` is a constant, not a variable");
                Err(self.error(Diagnostic::error(written.span, message)))
            }
        }
    }

    /// Something stored, to be changed. `action` says how, with `{}` for the place: "assign to {}".
    pub(super) fn changed_place(
        &mut self,
        written: &ast::Expression,
        action: &str,
    ) -> Check<Place> {
        let place = match self.designator(written)? {
            Designator::Place(place) => place,
            Designator::Constant { .. } => {
                let text = self.text(written.span);
                let action = action.replace("{}", &format!("`{text}`"));
                let message = format!("cannot {action}, which is a constant");
                return Err(self.error(Diagnostic::error(written.span, message)));
            }
        };
        self.require_writable(&place, action)?;
        let root = self.root(&place);
        self.effects.writes(root, place.span);
        Ok(place)
    }

    /// Whether a place may be changed.
    pub(super) fn require_writable(&mut self, place: &Place, action: &str) -> Check<()> {
        let Base::Local(local) = place.base else {
            return Ok(());
        };
        let (reason, help) = match self.locals[local.0 as usize].access {
            Access::Writable => return Ok(()),
            Access::LoopVariable => (
                "stands for each value in turn",
                "use a separate variable: `var` declares one before `begin`".to_owned(),
            ),
            Access::ByValue => {
                ("was passed by value", format!("declare it as `var {}`", self.local_name(local)))
            }
            Access::AliasOfValue => (
                "stands for a value, not for a variable",
                "an alias can be changed only if it stands for a variable that can be changed"
                    .to_owned(),
            ),
        };
        let text = self.text(place.span);
        let name = self.local_name(local);
        let action = action.replace("{}", &format!("`{text}`"));
        let message = match text == name && action.ends_with('`') {
            true => format!("cannot {action}, which {reason}"),
            false => format!("cannot {action}: `{name}` {reason}"),
        };
        Err(self.error(Diagnostic::error(place.span, message).help(help)))
    }

    /// What a change of a place would change.
    pub(super) fn root(&self, place: &Place) -> Root {
        match place.base {
            Base::Global(_) => Root::State,
            Base::Local(local) => self.locals[local.0 as usize].root,
        }
    }

    /// What may be done with a place.
    pub(super) fn access(&self, place: &Place) -> Access {
        match place.base {
            Base::Global(_) => Access::Writable,
            Base::Local(local) => self.locals[local.0 as usize].access,
        }
    }

    /// Whether a place is a variable that goes through a domain, so that it is always defined.
    pub(super) fn is_bound(&self, place: &Place) -> bool {
        match place.base {
            Base::Global(_) => false,
            Base::Local(local) => self.frame.locals[local.0 as usize].storage == Storage::Bound,
        }
    }

    fn local_name(&self, local: LocalId) -> String {
        self.frame.locals[local.0 as usize].name.clone()
    }

    /// What the source says at a place.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.model.source.text.get(span.start as usize..span.end as usize);
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn named(&mut self, name: &str, span: Span) -> Check<Designator> {
        let place = |base, ty| Designator::Place(Place { base, steps: Vec::new(), ty, span });
        let Some(entry) = self.scopes.find(name) else {
            return Err(self.unknown_name(name, span));
        };
        let wrong = match entry.symbol {
            Symbol::Constant { ty, value } => return Ok(Designator::Constant { ty, value }),
            Symbol::Global(id) => {
                let ty = self.model.globals[id.0 as usize].ty;
                return Ok(place(Base::Global(id), ty));
            }
            Symbol::Local(id) => {
                let ty = self.frame.locals[id.0 as usize].ty;
                return Ok(place(Base::Local(id), ty));
            }
            Symbol::Broken => return Err(Reported),
            Symbol::Type(_) => "is a type, not a value",
            Symbol::Function(function) => match self.signatures[function].result {
                Some(_) => "is a function: its result is written with parentheses, as in `f()`",
                None => "is a procedure, not a value",
            },
        };
        let message = format!("`{name}` {wrong}");
        Err(self.error(Diagnostic::error(span, message)))
    }

    fn unknown_name(&mut self, name: &str, span: Span) -> Reported {
        let is_value = |symbol| {
            matches!(symbol, Symbol::Constant { .. } | Symbol::Global(_) | Symbol::Local(_))
        };
        let message = format!("`{name}` is not declared");
        self.unknown(name, span, message, is_value)
    }

    fn field(&mut self, record: Place, field: &ast::Name, span: Span) -> Check<Place> {
        let TypeKind::Record(fields) = self.model.kind(record.ty) else {
            let text = self.text(record.span);
            let ty = self.type_name(record.ty);
            let message = format!("`{text}` has no field `{}`: it is of type `{ty}`", field.text);
            return Err(self.error(Diagnostic::error(field.span, message)));
        };
        let Some(index) = fields.iter().position(|known| known.name == field.text) else {
            let close = closest(&field.text, fields.iter().map(|field| field.name.as_str()));
            let help = close.map(|close| format!("did you mean `{close}`?"));
            let ty = self.type_name(record.ty);
            let message = format!("`{ty}` has no field `{}`", field.text);
            return Err(self.error(Diagnostic { help, ..Diagnostic::error(field.span, message) }));
        };
        let ty = fields[index].ty;
        let mut place = Place { ty, span, ..record };
        place.steps.push(Step::Field(index));
        Ok(place)
    }

    fn element(&mut self, array: Place, index: crate::ir::Expression, span: Span) -> Check<Place> {
        let at = index.span;
        let (step, ty) = match *self.model.kind(array.ty) {
            TypeKind::Array { index: wanted, element } => {
                let found = index.ty;
                let Some(index) = self.converted(index, wanted) else {
                    let wanted = self.type_name(wanted);
                    let found = self.type_name(found);
                    let array = self.text(array.span);
                    let message = format!(
                        "`{array}` is indexed by `{wanted}`, but this is a value of `{found}`"
                    );
                    return Err(self.error(Diagnostic::error(at, message)));
                };
                self.warn_of_value_outside(&index, wanted, "this index");
                (Step::Index(index), element)
            }
            TypeKind::Multiset { element, .. } => {
                let wanted = self.position_type(array.ty);
                if !self.same_type(index.ty, wanted) {
                    return Err(self.no_position(&index, array.ty));
                }
                (Step::Element(index), element)
            }
            _ => {
                let text = self.text(array.span);
                let ty = self.type_name(array.ty);
                let message = format!("`{text}` cannot be indexed: it is of type `{ty}`");
                return Err(self.error(Diagnostic::error(array.span, message)));
            }
        };
        let mut place = Place { ty, span, ..array };
        place.steps.push(step);
        Ok(place)
    }

    /// A multiset is indexed by something that is no position in it.
    pub(super) fn no_position(
        &mut self,
        index: &crate::ir::Expression,
        multiset: TypeId,
    ) -> Reported {
        let wanted = self.type_name(multiset);
        let message = match self.model.simple(index.ty) {
            Some(Simple::Position { multiset: other }) => {
                let other = self.type_name(*other);
                format!("this is a position in `{other}`, not in `{wanted}`")
            }
            _ => {
                let found = self.type_name(index.ty);
                format!("this is a value of `{found}`, not a position in `{wanted}`")
            }
        };
        let help = "positions are bound by `choose`, `MultisetCount` and `MultisetRemovePred`";
        self.error(Diagnostic::error(index.span, message).help(help))
    }

    /// Warns if a constant is not among the values of a type.
    pub(super) fn warn_of_value_outside(
        &mut self,
        expression: &crate::ir::Expression,
        ty: TypeId,
        what: &str,
    ) {
        let Some(value) = value_of(expression) else {
            return;
        };
        let low = self.model.lowest(ty);
        let inside = value >= low && value.abs_diff(low) < self.model.count(ty);
        if inside || !self.is_integer(ty) {
            return;
        }
        let name = self.type_name(ty);
        let message = format!("{what} is {value}, which is outside of `{name}`");
        let help = "this is an error whenever it is executed";
        self.warn(Diagnostic::warning(expression.span, message).help(help));
    }
}
