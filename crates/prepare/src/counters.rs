//! Counters of processors as sets of them.
//!
//! A number that counts processors cannot be kept when most of them are abstract; the set of those
//! it counts can, because a set has an element for each processor and the concrete ones stay. A
//! counter is anything of a range whose end depends on the number of processors (`recognise.rs`).
//! Counting one more (or one less) puts a processor into the set (or takes it out), and an assertion
//! says that it was not in it (or was): as long as no assertion fails, the counter is the size of
//! the set (`counting.rs`). Comparing with 0 asks whether the set is empty (`conditions.rs`).
//! Whatever else is done to a counter is refused, and so is whatever else depends on the number of
//! processors (`remains.rs`).
//!
//! Transformation T5 of docs/abstraction.md, with `n: 0..N` and N processors:
//!
//! ```text
//! before: n := n + 1;                         if n = 0 then …
//! after:  assert !n[p]; n[p] := true;         if forall q: P do !n[q] end then …
//! ```

mod conditions;
mod counting;
mod declare;
mod recognise;
mod remains;
mod statements;

use std::collections::{HashMap, HashSet};

use murphi::ast::{Declaration, Expression, Quantifier, Statement};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{Flattened, Scope, bind, bind_variables};

use crate::processor::Processor;
use crate::types::ProcessorTypes;

use recognise::{constants, sized_constants};
use remains::nothing_depends_on;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The constants on which the number of processors depends, and those that depend on it.
pub(crate) fn sized(declarations: &[Declaration], processor: &Processor) -> HashSet<String> {
    sized_constants(declarations, &constants(declarations), processor)
}

/// Turns counters into sets, in declarations and rules.
pub(crate) fn counters_to_sets(
    declarations: &mut Vec<Declaration>,
    flattened: &mut Flattened,
    types: &ProcessorTypes,
    processor: &Processor,
) -> Result<()> {
    let (constants, sized) = (constants(declarations), sized(declarations, processor));
    if sized.is_empty() {
        return Ok(());
    }
    let size = processor.size.as_deref();
    let sets = Sets { types, processor: &processor.name, size, constants };
    let mut has_counters = sets.rewrite(flattened)?;
    has_counters |= sets.retype_all(declarations);
    nothing_depends_on(&sized, declarations, flattened, &processor.name)?;
    if has_counters {
        sets.declare(declarations)?;
    }
    Ok(())
}

/// The information that is needed to turn counters into sets.
struct Sets<'a> {
    types: &'a ProcessorTypes,
    processor: &'a str,
    /// The constant that gives the number of processors.
    size: Option<&'a str>,
    constants: HashMap<String, Expression>,
}

impl Sets<'_> {
    /// Rewrites rules, start states and properties. Returns whether any of their own variables is a
    /// counter.
    fn rewrite(&self, flattened: &mut Flattened) -> Result<bool> {
        let mut has_counters = false;
        for rule in &mut flattened.rules {
            self.no_counters(&rule.quantifiers)?;
            let mut context = Context::new(self.types, &rule.quantifiers, &rule.body.declarations);
            if let Some(guard) = &mut rule.guard {
                *guard = self.condition(&mut context, guard)?;
            }
            rule.body.statements = self.statements(&mut context, &rule.body.statements)?;
            has_counters |= self.retype_all(&mut rule.body.declarations);
        }
        for start in &mut flattened.start_states {
            self.no_counters(&start.quantifiers)?;
            let body = &mut start.item.1;
            let mut context = Context::new(self.types, &start.quantifiers, &body.declarations);
            body.statements = self.statements(&mut context, &body.statements)?;
            has_counters |= self.retype_all(&mut body.declarations);
        }
        for property in &mut flattened.properties {
            self.no_counters(&property.quantifiers)?;
            let mut context = Context::new(self.types, &property.quantifiers, &[]);
            property.item.condition = self.condition(&mut context, &property.item.condition)?;
        }
        Ok(has_counters)
    }

    /// A fresh name for a variable that ranges over processors.
    fn each(&self, context: &Context) -> String {
        let taken = |wish: &str| {
            context.scope.contains_key(wish) || self.types.declared().any(|name| name == wish)
        };
        let letters = ('p'..='z').map(|letter| letter.to_string());
        let numbered = (1..).map(|number| format!("p{number}"));
        letters.chain(numbered).find(|wish| !taken(wish)).unwrap_or_default()
    }
}

/// The surroundings of a statement.
struct Context {
    scope: Scope,
    /// The parameters of processor type.
    parameters: Vec<String>,
    /// The loop variables of processor type, the innermost last.
    loops: Vec<String>,
    /// The scope outside the outermost of these loops.
    outside: Scope,
    /// The variables that this loop changes.
    written_inside: HashSet<String>,
    /// Assertions to be made before this loop.
    before_loops: Vec<Statement>,
}

impl Context {
    fn new(
        types: &ProcessorTypes,
        quantifiers: &[Quantifier],
        declarations: &[Declaration],
    ) -> Self {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        bind_variables(&mut scope, declarations);
        let processors = quantifiers.iter().filter(|each| types.over_processors(each));
        let parameters = processors.map(|each| each.name.text.clone()).collect();
        Context {
            scope,
            parameters,
            loops: Vec::new(),
            outside: Scope::new(),
            written_inside: HashSet::new(),
            before_loops: Vec::new(),
        }
    }
}

fn refused(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this use of a counter of processors is not supported").help(
        "a counter of processors may be set to 0, counted up or down by 1, copied, reduced by \
         another one, and compared with 0",
    )
}
