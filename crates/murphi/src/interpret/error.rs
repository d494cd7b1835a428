//! Run-time errors: what a model can do wrong while it runs, shown with the values it had.

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Why a rule, a start state or a property could not be evaluated to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeError {
    /// In which way it failed.
    pub kind: RuntimeErrorKind,
    /// The part of the source that failed.
    pub span: Span,
    /// What happened, with the values that made it happen, in one sentence without a full stop.
    pub message: String,
    /// The functions being executed, outermost first.
    pub calls: Vec<CallSite>,
}

/// How many of a long chain of calls are shown, from the place that failed outwards.
const SHOWN_INNERMOST: usize = 4;
/// How many of a long chain of calls are shown, from the rule inwards.
const SHOWN_OUTERMOST: usize = 2;

/// A function being executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// Its name.
    pub function: String,
    /// Where it was called.
    pub span: Span,
}

/// The ways to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuntimeErrorKind {
    /// A simple value was read before anything was assigned to it.
    Undefined,
    /// An index that the index type of the array does not have.
    IndexOutside,
    /// A value was assigned, passed, returned or added that its type does not have.
    ValueOutside,
    /// A value of a union was used as one of a type it does not belong to.
    NotAMember,
    /// Division or remainder by zero.
    DivisionByZero,
    /// A result that does not fit in 64 bits.
    Overflow,
    /// The statement `error`.
    ErrorStatement,
    /// An `assert` that does not hold.
    AssertionFailed,
    /// `MultisetAdd` to a full multiset.
    MultisetFull,
    /// A position of a multiset where there is no element.
    PositionEmpty,
    /// A range with step 0.
    StepZero,
    /// A range that counts down from a value below its end.
    StepLeadsAway,
    /// A `while` with too many rounds.
    LoopLimit,
    /// Too many calls of functions that call themselves.
    CallLimit,
    /// A function that ended without `return`.
    NoReturn,
}

impl RuntimeErrorKind {
    /// What a designer can do about it, where that is not plain from the message.
    fn help(self) -> Option<&'static str> {
        match self {
            RuntimeErrorKind::Undefined => {
                Some("assign a value first, or test with `isundefined` before reading")
            }
            RuntimeErrorKind::MultisetFull => {
                Some("give the multiset a greater capacity, or guard the rule with `MultisetCount`")
            }
            RuntimeErrorKind::LoopLimit => Some("if the loop does end, raise --loop-limit"),
            RuntimeErrorKind::CallLimit => Some("if the recursion does end, raise --call-limit"),
            RuntimeErrorKind::NotAMember => Some("test with `ismember` first"),
            RuntimeErrorKind::StepLeadsAway => Some("exchange the bounds, or negate the step"),
            _ => None,
        }
    }
}

impl RuntimeError {
    /// The error as something to show with the source.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.span, self.message.clone());
        diagnostic.help = self.kind.help().map(str::to_owned);
        let left_out = self.calls.len().saturating_sub(SHOWN_INNERMOST + SHOWN_OUTERMOST);
        for (number, call) in self.calls.iter().rev().enumerate() {
            if left_out > 1 && (SHOWN_INNERMOST..SHOWN_INNERMOST + left_out).contains(&number) {
                continue;
            }
            let mut text = format!("in `{}`, called here", call.function);
            if left_out > 1 && number == SHOWN_INNERMOST + left_out {
                text.push_str(&format!(
                    "; {left_out} more calls between this one and the one above"
                ));
            }
            diagnostic = diagnostic.related(call.span, text);
        }
        diagnostic
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for RuntimeError {}

impl From<&RuntimeError> for Diagnostic {
    fn from(error: &RuntimeError) -> Self {
        error.diagnostic()
    }
}
