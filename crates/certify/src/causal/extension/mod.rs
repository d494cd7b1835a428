//! `ccv`, `ccm` and `wccm` from an order that their relation is part of.
//!
//! Each model derives relations in layers, each the least one that is closed under its rules, and asks
//! for the last, *the whole*, to be acyclic (`definition`). The certificate has an order L of all
//! operations that extends the whole; `wccm`, which has two, gives one for ppo and one for po-loc. An
//! order that extends a relation lets its least fixpoint be followed in one pass: what a rule derives
//! for an operation rests on what comes later (or earlier) in L. And no pass is trusted with that.
//! Each step ends by checking that what it found is closed under the rules, so that it has the least
//! fixpoint in it, and that it goes up in L, so that there is no cycle:
//!
//! 1. **po and rf** go up in L (`Side::new`).
//! 2. **hb_o** of each thread t (`scopes`, not for `ccv`). `first[a][t]` is the first read of t that
//!    the operation a is found to come before. It is at most that of whatever follows a by po or rf,
//!    and at most the read itself. For each read r of t, of w₂, and each write w₁ of its address with
//!    `first[w₁][t]` up to r, it is checked that `first[w₁][t] ≤ first[w₂][t]`. So the relation
//!    "first[a][t] ≤ first[b][t]" is transitive, has co, and is closed under rule (2): it has hb_o, and
//!    rule (2) derives no pair (w₁, w₂) but these, the *observed* ones.
//! 3. **hb** is in the closure of po, rf and what each thread observed (`clocks`), as clocks: how many
//!    writes of each thread come before an operation.
//! 4. **pww** is the closure, for each address, of what hb, the conflicts over hb and the lines of the
//!    trace order (`store_order`). Each pair goes up in L, and so does each of **rw**: what a read
//!    read is overwritten later in L than the read stands.
//! 5. **atomicity** (`blocks`): the certificate lists the pairs that it adds. The closure of the whole
//!    with these is computed along L, where they go up, and it is checked that the two rules derive
//!    nothing that it does not have. For `wccm` that is done over ppo; `blocks` says why it is enough.
//!
//! `ccv` is the same with co in the place of hb and without rw. For `wccm`, hb of both orders together
//! is only asked about between writes, and there ppo with what was observed over both is enough: a path
//! that uses po-loc from a write to a read goes on along its thread until a later write of the thread,
//! which ppo reaches from the first.
//!
//! Pairs that are listed but not needed do no harm: the relation that is checked is then larger.
//! O(n · threads).

mod blocks;
mod clocks;
mod layout;
mod scopes;
mod side;
mod store_order;

use history::EventId;
use models::Model;

use self::clocks::Rows;
use self::layout::Layout;
use self::scopes::{Observed, Readers};
use self::side::Side;
use self::store_order::StoreOrder;
use super::operations::Operations;
use super::relation::Order;
use crate::rejection::Fault;

/// What the certificate has.
#[derive(Clone, Copy)]
pub(super) struct Extensions<'a> {
    pub(super) orders: &'a [Vec<EventId>],
    pub(super) atomicity: &'a [(EventId, EventId)],
}

/// No operation, or no place of one.
const NONE: u32 = u32::MAX;

/// Which of the rules a model has.
#[derive(Clone, Copy)]
struct Rules {
    /// hb and rw; else co takes the place of hb.
    store_order: bool,
    /// ppo and po-loc in the place of po, and rf between threads.
    relaxed: bool,
}

/// Checks that the orders extend what the model derives.
pub(super) fn hold(
    operations: &Operations<'_>,
    model: Model,
    Extensions { orders, atomicity }: Extensions<'_>,
) -> Result<(), Fault> {
    let wrong = Fault::WrongEvidence { model };
    let Some(rules) = model.causal_rules() else { return Err(wrong) };
    let rules = match (rules.convergent || rules.store_order, rules.relaxed) {
        (true, relaxed) => Rules { store_order: rules.store_order, relaxed },
        (false, _) => return Err(wrong),
    };
    let kept: &[Order] =
        if rules.relaxed { &[Order::Preserved, Order::Location] } else { &[Order::Program] };
    if orders.len() != kept.len() {
        return Err(Fault::OrderCount { wanted: kept.len(), given: orders.len() });
    }
    fits(operations, kept.len())?;
    let layout = Layout::new(operations);
    let sides: Result<Vec<Side>, Fault> =
        kept.iter().zip(orders).map(|(&kept, order)| Side::new(operations, kept, order)).collect();
    let sides = sides?;
    let atomicity = blocks::added(operations, atomicity)?;
    let conflicts = conflicts(operations, &layout, &sides, rules)?;
    let needs_edges = operations.atomics().next().is_some();
    let store_order = StoreOrder::new(operations, &layout, &sides, rules, conflicts, needs_edges)?;
    if needs_edges {
        blocks::are_whole(operations, &layout, &sides, rules, &store_order, &atomicity)?;
    }
    Ok(())
}

/// Whether the tables fit the memory: at most two for each side and two others, of a number for each
/// operation and thread.
fn fits(operations: &Operations<'_>, sides: usize) -> Result<(), Fault> {
    let row = operations.history.thread_count().saturating_mul((2 * sides + 2) * size_of::<u32>());
    let bytes = operations.all.len().saturating_mul(row.saturating_add(64));
    let allowed = operations.memory;
    if bytes > allowed { Err(Fault::TooLarge { bytes, allowed }) } else { Ok(()) }
}

/// For each write, how many writes of each thread hb puts before it, or before one of its readers: what
/// pww is the closure of.
fn conflicts(
    operations: &Operations<'_>,
    layout: &Layout,
    sides: &[Side],
    rules: Rules,
) -> Result<Rows, Fault> {
    let readers = Readers::new(operations, layout, rules.relaxed);
    let mut known = Rows::new(operations.history.thread_count(), layout.write_count());
    let mut observed: Vec<Observed> = Vec::new();
    for side in sides {
        if rules.store_order {
            let first = scopes::first_reads(operations, layout, side, &readers)?;
            observed.push(scopes::observed(operations, layout, &readers, &first)?);
        }
        let of_side = observed.last().map(std::slice::from_ref).unwrap_or_default();
        let clocks = clocks::of(operations, layout, side, &readers, of_side)?;
        clocks::add_conflicts(operations, layout, side, &clocks, &mut known)?;
        if sides.len() == 1 {
            clocks::add_writes(&clocks, &mut known);
        }
    }
    if let [side, _] = sides {
        let together = clocks::of(operations, layout, side, &readers, &observed)?;
        clocks::add_writes(&together, &mut known);
    }
    Ok(known)
}

/// The fault of an order in which an operation comes before another that derives the opposite.
fn out_of_order(operations: &Operations<'_>, earlier: u32, later: u32, why: &'static str) -> Fault {
    let name = |op: u32| operations.name(op as usize);
    Fault::OutOfOrder { earlier: name(earlier), later: name(later), why }
}
