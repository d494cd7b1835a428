//! Expressions: operators, conditions, conversions between types.

use super::constants::{fold, value_of};
use super::places::Designator;
use super::{Check, Checker, Dialect, Reading};
use crate::ast::{self, BinaryOperator, UnaryOperator};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expression, ExpressionKind, Model, Operator, Simple, TypeId};
use crate::source::Span;

impl Checker<'_> {
    /// An expression of any type.
    pub(super) fn expression(&mut self, written: &ast::Expression) -> Check<Expression> {
        let span = written.span;
        let (kind, ty) = match &written.kind {
            ast::ExpressionKind::Integer(value) => {
                let value = self.octal(span).unwrap_or(Ok(*value))?;
                (ExpressionKind::Constant(value), Model::INTEGER)
            }
            ast::ExpressionKind::Real(_) => return Err(self.unsupported(span, "real numbers")),
            ast::ExpressionKind::Name(_)
            | ast::ExpressionKind::Field(..)
            | ast::ExpressionKind::Index(..) => match self.designator(written)? {
                Designator::Place(place) => {
                    let ty = place.ty;
                    (ExpressionKind::Read(place), ty)
                }
                Designator::Constant { ty, value } => (ExpressionKind::Constant(value), ty),
            },
            ast::ExpressionKind::Undefined => {
                let message = "`undefined` cannot be an operand";
                let help = "use `isundefined(x)` to test, or `undefine x` to assign";
                return Err(self.error(Diagnostic::error(span, message).help(help)));
            }
            ast::ExpressionKind::Call(call) => return self.call_expression(call, span),
            ast::ExpressionKind::Unary(operator, operand) => {
                return self.unary(*operator, operand, span);
            }
            ast::ExpressionKind::Binary(operator, left, right) => {
                return self.binary(*operator, left, right, span);
            }
            ast::ExpressionKind::Conditional(condition, left, right) => {
                return self.conditional(condition, left, right, span);
            }
            ast::ExpressionKind::Quantified { all, quantifiers, condition } => {
                return self.quantified(*all, quantifiers, condition, span);
            }
            ast::ExpressionKind::IsUndefined(place) => return self.is_undefined(place, span),
            ast::ExpressionKind::IsMember(value, member) => {
                return self.is_member(value, member, span);
            }
            ast::ExpressionKind::MultisetCount(filter) => {
                let (binder, condition) = self.multiset_filter(filter)?;
                let condition = Box::new(condition);
                (ExpressionKind::MultisetCount { binder, condition }, Model::INTEGER)
            }
        };
        Ok(Expression { kind, ty, span })
    }

    /// Rumur takes a number that begins with 0 for an octal one, as C does.
    fn octal(&mut self, span: Span) -> Option<Check<i64>> {
        let text = self.text(span);
        let is_octal = text.len() > 1
            && text.starts_with('0')
            && text.bytes().all(|digit| digit.is_ascii_digit())
            && self.options.dialect == Dialect::Rumur;
        let value = is_octal.then(|| i64::from_str_radix(&text, 8))?;
        let help = "with `--dialect rumur`, a number that begins with 0 is octal";
        let reading = self.options.reading;
        let mut refuse = |message| Err(self.error(Diagnostic::error(span, message).help(help)));
        Some(match (value, reading) {
            (Err(_), _) => refuse(format!("`{text}` is not an octal number")),
            // The syntax tree has it as a decimal one, and so would a changed program.
            (Ok(_), Reading::Strict) => refuse("octal numbers are not supported here".to_owned()),
            (Ok(value), Reading::Whole) => Ok(value),
        })
    }

    /// An expression that must be true or false. `what` names its role.
    pub(super) fn condition(&mut self, written: &ast::Expression, what: &str) -> Check<Expression> {
        let condition = self.expression(written)?;
        self.require_boolean(condition, what)
    }

    fn require_boolean(&mut self, expression: Expression, what: &str) -> Check<Expression> {
        if self.is_boolean(expression.ty) {
            return Ok(expression);
        }
        let ty = self.type_name(expression.ty);
        let message = format!("{what} must be a boolean, but this is a value of `{ty}`");
        Err(self.error(Diagnostic::error(expression.span, message)))
    }

    fn require_integer(&mut self, expression: Expression, what: &str) -> Check<Expression> {
        if self.is_integer(expression.ty) {
            return Ok(expression);
        }
        let ty = self.type_name(expression.ty);
        let message = format!("{what} must be an integer, but this is a value of `{ty}`");
        let help = self.help_on_operands(expression.ty);
        Err(self.error(Diagnostic { help, ..Diagnostic::error(expression.span, message) }))
    }

    /// A number. `what` names its role.
    pub(super) fn integer(&mut self, written: &ast::Expression, what: &str) -> Check<Expression> {
        let expression = self.expression(written)?;
        self.require_integer(expression, what)
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &ast::Expression,
        span: Span,
    ) -> Check<Expression> {
        if operator == UnaryOperator::Not {
            let operand = self.condition(operand, "the operand of `!`")?;
            let kind = match value_of(&operand) {
                Some(value) => ExpressionKind::Constant(value ^ 1),
                None => ExpressionKind::Not(Box::new(operand)),
            };
            return Ok(Expression { kind, ty: Model::BOOLEAN, span });
        }
        let sign = match operator {
            UnaryOperator::Plus => "the operand of `+`",
            UnaryOperator::Negate => "the operand of `-`",
            _ => "the operand of `~`",
        };
        let operand = self.integer(operand, sign)?;
        let folded = value_of(&operand).and_then(|value| match operator {
            UnaryOperator::Plus => Some(value),
            UnaryOperator::Negate => value.checked_neg(),
            _ => Some(!value),
        });
        let kind = match (folded, operator) {
            (Some(value), _) => ExpressionKind::Constant(value),
            (None, UnaryOperator::Plus) => operand.kind,
            (None, UnaryOperator::Negate) => ExpressionKind::Negate(Box::new(operand)),
            (None, _) => ExpressionKind::Complement(Box::new(operand)),
        };
        Ok(Expression { kind, ty: Model::INTEGER, span })
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
        span: Span,
    ) -> Check<Expression> {
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            return self.equality(operator == BinaryOperator::Equal, left, right, span);
        }
        let left = self.expression(left);
        let right = self.expression(right);
        let (left, right) = (left?, right?);
        let bitwise = self.is_integer(left.ty);
        let (operator, operands, result) = match operator {
            BinaryOperator::Implies => (Operator::Implies, Operands::Booleans, Model::BOOLEAN),
            BinaryOperator::LogicalOr => (Operator::Or, Operands::Booleans, Model::BOOLEAN),
            BinaryOperator::LogicalAnd => (Operator::And, Operands::Booleans, Model::BOOLEAN),
            BinaryOperator::Or if bitwise => (Operator::BitOr, Operands::Integers, Model::INTEGER),
            BinaryOperator::And if bitwise => {
                (Operator::BitAnd, Operands::Integers, Model::INTEGER)
            }
            BinaryOperator::Or => (Operator::Or, Operands::Booleans, Model::BOOLEAN),
            BinaryOperator::And => (Operator::And, Operands::Booleans, Model::BOOLEAN),
            BinaryOperator::Xor => (Operator::BitXor, Operands::Integers, Model::INTEGER),
            BinaryOperator::ShiftLeft => (Operator::ShiftLeft, Operands::Integers, Model::INTEGER),
            BinaryOperator::ShiftRight => {
                (Operator::ShiftRight, Operands::Integers, Model::INTEGER)
            }
            BinaryOperator::Add => (Operator::Add, Operands::Integers, Model::INTEGER),
            BinaryOperator::Subtract => (Operator::Subtract, Operands::Integers, Model::INTEGER),
            BinaryOperator::Multiply => (Operator::Multiply, Operands::Integers, Model::INTEGER),
            BinaryOperator::Divide => (Operator::Divide, Operands::Integers, Model::INTEGER),
            BinaryOperator::Remainder => (Operator::Remainder, Operands::Integers, Model::INTEGER),
            BinaryOperator::Less => (Operator::Less, Operands::Integers, Model::BOOLEAN),
            BinaryOperator::LessOrEqual => {
                (Operator::LessOrEqual, Operands::Integers, Model::BOOLEAN)
            }
            BinaryOperator::Greater => (Operator::Greater, Operands::Integers, Model::BOOLEAN),
            BinaryOperator::GreaterOrEqual => {
                (Operator::GreaterOrEqual, Operands::Integers, Model::BOOLEAN)
            }
            BinaryOperator::Equal => (Operator::Equal, Operands::Integers, Model::BOOLEAN),
            BinaryOperator::NotEqual => (Operator::NotEqual, Operands::Integers, Model::BOOLEAN),
        };
        self.require_not_both_wrong(operator, &left, &right, &operands, span)?;
        let what = format!("an operand of `{}`", symbol(operator));
        let (left, right) = match operands {
            Operands::Booleans => {
                (self.require_boolean(left, &what), self.require_boolean(right, &what))
            }
            Operands::Integers => {
                (self.require_integer(left, &what), self.require_integer(right, &what))
            }
        };
        Ok(folded(operator, left?, right?, result, span))
    }

    /// If both operands are wrong in the same way, that is one mistake.
    fn require_not_both_wrong(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        operands: &Operands,
        span: Span,
    ) -> Check<()> {
        let (wanted, right_kind) = match operands {
            Operands::Booleans => ("booleans", self.is_boolean(left.ty)),
            Operands::Integers => ("integers", self.is_integer(left.ty)),
        };
        if right_kind || !self.same_type(left.ty, right.ty) {
            return Ok(());
        }
        let ty = self.type_name(left.ty);
        let message = format!(
            "the operands of `{}` must be {wanted}, but these are values of `{ty}`",
            symbol(operator)
        );
        let help = self.help_on_operands(left.ty);
        Err(self.error(Diagnostic { help, ..Diagnostic::error(span, message) }))
    }

    /// Why values of a type are no numbers.
    fn help_on_operands(&self, ty: TypeId) -> Option<String> {
        let help = match self.model.simple(ty)? {
            Simple::Scalarset(_) => {
                "members of a scalarset have no order: compare them with `=` and `!=` only"
            }
            Simple::Enumeration(_) => {
                "members of an enumeration are compared with `=` and `!=` only"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// `a = b` and `a != b`.
    fn equality(
        &mut self,
        equal: bool,
        left: &ast::Expression,
        right: &ast::Expression,
        span: Span,
    ) -> Check<Expression> {
        let left = self.expression(left);
        let right = self.expression(right);
        let (left, right) = self.alike(left?, right?, span)?;
        if self.model.simple(left.ty).is_some() {
            let operator = if equal { Operator::Equal } else { Operator::NotEqual };
            return Ok(folded(operator, left, right, Model::BOOLEAN, span));
        }
        let kind = ExpressionKind::Same { equal, left: Box::new(left), right: Box::new(right) };
        Ok(Expression { kind, ty: Model::BOOLEAN, span })
    }

    /// Two expressions that are compared, with values of the same meaning. A member of a union is
    /// taken for a value of the union, so that this cannot fail at run time.
    pub(super) fn alike(
        &mut self,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Check<(Expression, Expression)> {
        let integers = self.is_integer(left.ty) && self.is_integer(right.ty);
        if integers || self.same_type(left.ty, right.ty) {
            return Ok((left, right));
        }
        if self.union_members(left.ty).is_some_and(|members| members.contains(&right.ty)) {
            let wanted = left.ty;
            return Ok((left, self.convert(right, wanted)));
        }
        if self.union_members(right.ty).is_some_and(|members| members.contains(&left.ty)) {
            let wanted = right.ty;
            return Ok((self.convert(left, wanted), right));
        }
        let message = format!(
            "cannot compare a value of `{}` with one of `{}`",
            self.type_name(left.ty),
            self.type_name(right.ty)
        );
        Err(self.error(Diagnostic::error(span, message)))
    }

    fn conditional(
        &mut self,
        condition: &ast::Expression,
        left: &ast::Expression,
        right: &ast::Expression,
        span: Span,
    ) -> Check<Expression> {
        let condition = self.condition(condition, "the condition before `?`");
        let left = self.expression(left);
        let right = self.expression(right);
        let (condition, left, right) = (condition?, left?, right?);
        let integers = self.is_integer(left.ty) && self.is_integer(right.ty);
        let (left, right) = match integers || self.same_type(left.ty, right.ty) {
            true => (left, right),
            false => {
                let message = format!(
                    "one side of `:` is a value of `{}`, the other one of `{}`",
                    self.type_name(left.ty),
                    self.type_name(right.ty)
                );
                let mixed = self.union_members(left.ty).is_some_and(|m| m.contains(&right.ty))
                    || self.union_members(right.ty).is_some_and(|m| m.contains(&left.ty));
                if !mixed {
                    return Err(self.error(Diagnostic::error(span, message)));
                }
                self.alike(left, right, span)?
            }
        };
        let ty = if integers && left.ty != right.ty { Model::INTEGER } else { left.ty };
        if let (Some(condition), Some(_), Some(_)) =
            (value_of(&condition), value_of(&left), value_of(&right))
        {
            let chosen = if condition == 1 { left } else { right };
            return Ok(Expression { ty, span, ..chosen });
        }
        let kind =
            ExpressionKind::Conditional(Box::new(condition), Box::new(left), Box::new(right));
        Ok(Expression { kind, ty, span })
    }

    fn is_undefined(&mut self, written: &ast::Expression, span: Span) -> Check<Expression> {
        let never = Expression { kind: ExpressionKind::Constant(0), ty: Model::BOOLEAN, span };
        let place = match self.designator(written)? {
            Designator::Place(place) => place,
            Designator::Constant { .. } => return Ok(never),
        };
        if self.model.simple(place.ty).is_none() {
            let text = self.text(written.span);
            let ty = self.type_name(place.ty);
            let message =
                format!("only a single value can be undefined, but `{text}` is of type `{ty}`");
            let help = "use `isundefined` on one of its components";
            return Err(self.error(Diagnostic::error(written.span, message).help(help)));
        }
        match self.is_bound(&place) {
            true => Ok(never),
            false => Ok(Expression { kind: ExpressionKind::IsUndefined(place), ..never }),
        }
    }

    fn is_member(
        &mut self,
        value: &ast::Expression,
        member: &ast::TypeExpression,
        span: Span,
    ) -> Check<Expression> {
        let value = self.expression(value);
        let ty = self.type_expression(member, None);
        let (value, ty) = (value?, ty?);
        let is_set = |ty| {
            matches!(self.model.simple(ty), Some(Simple::Enumeration(_) | Simple::Scalarset(_)))
        };
        if !is_set(ty) {
            let message = format!("`{}` cannot be a member of a union", self.type_name(ty));
            let help = "`ismember` takes enumerations and scalarsets";
            return Err(self.error(Diagnostic::error(member.span, message).help(help)));
        }
        let possible = match self.model.simple(value.ty) {
            Some(Simple::Union(members)) => members.contains(&ty),
            _ if is_set(value.ty) => self.same_type(value.ty, ty),
            _ => {
                let found = self.type_name(value.ty);
                let message =
                    format!("`ismember` takes a value of a union, but this is of type `{found}`");
                return Err(self.error(Diagnostic::error(value.span, message)));
            }
        };
        let kind = match possible {
            true => ExpressionKind::IsMember { value: Box::new(value), member: ty },
            false => {
                let (found, member) = (self.type_name(value.ty), self.type_name(ty));
                let message =
                    format!("this is never true: `{member}` is not a member of `{found}`");
                self.warn(Diagnostic::warning(span, message));
                ExpressionKind::Constant(0)
            }
        };
        Ok(Expression { kind, ty: Model::BOOLEAN, span })
    }

    /// An expression as a value of another type, if its values can mean that.
    pub(super) fn converted(&self, value: Expression, wanted: TypeId) -> Option<Expression> {
        let integers = self.is_integer(value.ty) && self.is_integer(wanted);
        if integers || self.same_type(value.ty, wanted) {
            return Some(value);
        }
        let (found, members) = (self.union_members(value.ty), self.union_members(wanted));
        let allowed = match (found, members) {
            (None, None) => false,
            (None, Some(members)) => members.contains(&value.ty),
            (Some(found), None) => found.contains(&wanted),
            (Some(found), Some(members)) => found.iter().any(|part| members.contains(part)),
        };
        allowed.then(|| self.convert(value, wanted))
    }

    /// The node that converts; a constant member is converted at once.
    fn convert(&self, value: Expression, wanted: TypeId) -> Expression {
        let span = value.span;
        let offset = self.model.union_offset(wanted, value.ty);
        let kind = match (value_of(&value), offset) {
            (Some(constant), Some(offset)) => ExpressionKind::Constant(offset + constant),
            _ => ExpressionKind::Convert(Box::new(value)),
        };
        Expression { kind, ty: wanted, span }
    }
}

/// What an operator works on.
enum Operands {
    Booleans,
    Integers,
}

/// An operation, or its value if that is known.
fn folded(
    operator: Operator,
    left: Expression,
    right: Expression,
    ty: TypeId,
    span: Span,
) -> Expression {
    let known = match (value_of(&left), value_of(&right)) {
        (Some(left), Some(right)) => fold(operator, left, right).ok(),
        _ => None,
    };
    let kind = match known {
        Some(value) => ExpressionKind::Constant(value),
        None => ExpressionKind::Binary(operator, Box::new(left), Box::new(right)),
    };
    Expression { kind, ty, span }
}

/// An operator as it is written.
fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
        Operator::BitAnd | Operator::And => "&",
        Operator::BitOr | Operator::Or => "|",
        Operator::BitXor => "^",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::Implies => "->",
        Operator::Equal => "=",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
    }
}
