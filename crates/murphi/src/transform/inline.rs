//! Functions and procedures, put where they are called.
//!
//! What is left is a program of rules alone, in which every processor that a statement speaks of is
//! a parameter, a loop variable or something stored: the form that is abstracted. A function that
//! only returns something is replaced by what it returns (`callee.rs`, `expressions.rs`); of any
//! other, the body comes before the statement with the call (`call.rs`, `statements.rs`). A call
//! that changes what is read before it in the same expression is refused (`effects.rs`).
//!
//! An argument is evaluated where the function is called, whether or not the function looks at it,
//! and that may fail. It stays in the program: as a `put` before the body, or beside the value of a
//! function that is replaced by what it returns.
//!
//! Transformation T3 of docs/abstraction.md.

mod call;
mod callee;
mod expressions;
mod statements;

use std::collections::HashMap;

use crate::ast::{
    Body, Declaration, DeclarationKind, Expression, ExpressionKind, Item, Program, Statement,
    StatementKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use crate::transform::declarations::{Declarations, Scope};
use crate::transform::returns::without_returns;

use callee::Callee;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Puts functions where they are called.
pub struct Inliner<'p> {
    types: &'p Declarations,
    functions: HashMap<String, Callee>,
}

/// The rule that is worked on.
struct Place {
    /// Names that are bound around.
    scope: Scope,
    /// Variables of the rule that calls have brought in.
    variables: Vec<Declaration>,
    in_loop: bool,
}

/// What has to be done before the statement that is worked on; `None` where nothing can be, because
/// the expression is evaluated more than once, or perhaps not at all.
type Before = Option<Vec<Statement>>;

impl Place {
    fn within(scope: &Scope) -> Place {
        Place { scope: scope.clone(), variables: Vec::new(), in_loop: false }
    }

    /// Leaves a quantifier or a loop, outside of which these names are bound. Variables that calls in
    /// it have brought in are variables of the whole rule.
    fn leave(&mut self, outer: Scope) -> Result<()> {
        self.scope = outer;
        self.variables.iter().try_for_each(|brought_in| declare(&mut self.scope, brought_in))
    }
}

impl<'p> Inliner<'p> {
    /// Reads the functions of a program. One that cannot be put where it is called is refused.
    pub fn new(program: &Program, types: &'p Declarations) -> Result<Self> {
        let mut inliner = Inliner { types, functions: HashMap::new() };
        for item in &program.items {
            if let Item::Function(function) = item {
                let callee = inliner.callee(function)?;
                inliner.functions.insert(function.name.text.clone(), callee);
            }
        }
        Ok(inliner)
    }

    /// The body of a rule, with these names bound around it.
    pub fn body(&self, around: &Scope, body: &Body) -> Result<Body> {
        let mut place = Place::within(around);
        for declaration in &body.declarations {
            declare(&mut place.scope, declaration)?;
        }
        let statements = without_returns(&body.statements);
        let statements = self.statements(&mut place, &statements)?;
        let mut declarations = body.declarations.clone();
        declarations.append(&mut place.variables);
        Ok(Body { declarations, statements })
    }

    /// A guard or the condition of a property.
    pub fn condition(&self, around: &Scope, condition: &Expression) -> Result<Expression> {
        self.evaluated(&mut Place::within(around), condition, &mut None)
    }
}

fn declare(scope: &mut Scope, declaration: &Declaration) -> Result<()> {
    let DeclarationKind::Variable(variables) = &declaration.kind else {
        let message = "constants and types inside a rule or function are not supported for any \
                       number of processors";
        return Err(Diagnostic::error(declaration.span, message).help("declare it at the top"));
    };
    for name in &variables.names {
        scope.insert(name.text.clone(), variables.ty.clone());
    }
    Ok(())
}

/// A statement that evaluates what is passed or given a name, as `put` does: the place is found, and
/// what is there may be undefined. `None` where that cannot fail.
fn touched(passed: &Expression) -> Option<Statement> {
    (!is_steady(passed)).then(|| {
        let kind = StatementKind::Put(passed.clone());
        Statement { kind, span: passed.span }
    })
}

/// Whether evaluating something can never fail where it is only passed on: no index has to be one of
/// an array, and nothing is computed.
fn is_steady(passed: &Expression) -> bool {
    match &passed.kind {
        ExpressionKind::Name(_) | ExpressionKind::Integer(_) | ExpressionKind::Undefined => true,
        ExpressionKind::Field(inner, _) => is_steady(inner),
        _ => false,
    }
}

fn not_understood(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this call cannot be inlined")
        .help("let the function consist of `return` and `if`, or call it in an assignment")
}
