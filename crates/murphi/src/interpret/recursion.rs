//! Calls of functions that call themselves: how many may be open, and on which stack they run.
//!
//! The interpreter recurses where the model does. So that no depth of calls that
//! [`Model::call_limit`](crate::ir::Model::call_limit) allows overflows the stack, every
//! [`CALLS_ON_A_STACK`]th open call of a recursive function goes on in a thread of its own, which the
//! calling one waits for.

use super::error::RuntimeErrorKind;
use super::expression::{Execution, Stop};
use super::statement::Flow;
use crate::ir::{Call, Statement};
use crate::source::Span;

/// How many calls of recursive functions share a stack.
const CALLS_ON_A_STACK: u64 = 32;
/// The bytes of such a stack: half a megabyte for each call, with all that is nested in it.
const STACK: usize = 16 << 20;

impl<'m> Execution<'m> {
    /// The body of a recursive function that has just been entered.
    pub(super) fn recursive_body(
        &mut self,
        body: &'m [Statement],
        span: Span,
    ) -> Result<Flow, Stop> {
        if !(self.recursion - 1).is_multiple_of(CALLS_ON_A_STACK) {
            return self.block(body);
        }
        let mut ended = None;
        let started = std::thread::scope(|scope| {
            let run = || ended = Some(self.block(body));
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            thread.map(|thread| thread.join())
        });
        match (started, ended) {
            (Ok(Err(panic)), _) => std::panic::resume_unwind(panic),
            (Ok(Ok(())), Some(ended)) => ended,
            _ => {
                let message = "no memory is left for the stack of this call".to_owned();
                Err(self.fail(RuntimeErrorKind::CallLimit, span, message))
            }
        }
    }

    /// That a call of a recursive function is one too many.
    pub(super) fn called_too_often(&self, call: &Call) -> Stop {
        let name = &self.model.functions[call.function.0 as usize].name;
        let limit = self.model.call_limit;
        let message = format!("this call of `{name}` exceeds the recursion limit of {limit} calls");
        self.fail(RuntimeErrorKind::CallLimit, call.span, message)
    }
}
