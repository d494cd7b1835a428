//! The orders in which loops over members are tried.
//!
//! Of some loops it is not known before a run whether the order of the members that they go through
//! shows ([`Model::tried`](murphi::ir::Model::tried)). A search that takes states that differ by a
//! renaming of members for one is right all the same if every run of a rule through such loops ends
//! alike for each order of the members, by this argument. Everything but these loops commutes with
//! renaming. So running a rule in a renamed state is running it in the state itself, with these loops
//! in the order of the members as they were renamed, and renaming the result. If the results for all
//! orders are the same, the successors of a renamed state are the renamed successors of the state.
//!
//! One order is for all tried loops of a run together, since one renaming is. Code takes the members
//! of these loops from a table; after a rule that went through one of them, it is run again with the
//! tables of all other orders, what it led to is compared and forgotten. Multisets have no order, so
//! they are compared without one.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use murphi::ir::{Call, Domain, Model, Rule, Simple, Statement, StatementKind, TypeId};
use murphi::machine::Outcome;
use murphi::source::Span;
use murphi::walk::{self, Visitor};

use crate::shape::Shapes;

/// The most orders.
const MOST: usize = 1000;

/// All orders of the members that tried loops go through.
#[derive(Debug)]
pub(crate) struct Orders {
    loops: HashSet<Span>,
    /// For each domain of a loop, where its values are in a table.
    domains: Vec<(TypeId, u32)>,
    /// For each order, the values of all domains in this order, counted from 0. The first one is the
    /// natural order.
    tables: Vec<Vec<u16>>,
    /// For each function, whether it may run a tried loop.
    functions: Vec<bool>,
}

/// A value of a domain: a member of a scalarset that has other orders, or anything else.
type Member = Option<(usize, u32)>;

impl Orders {
    /// The orders of the tried loops of a model, if there are any and not too many.
    pub(crate) fn of(model: &Model) -> Option<Orders> {
        let mut loops =
            Loops { model, spans: model.tried.iter().copied().collect(), found: Vec::new() };
        let functions = model.functions.iter().map(|function| &function.body);
        let rules = model.rules.iter().map(|rule| &rule.body);
        functions.chain(rules).for_each(|body| walk::statements(body, &mut loops));
        let mut types = loops.found;
        types.sort();
        types.dedup();
        let mut sets: Vec<(TypeId, u32)> = Vec::new();
        let mut domains = Vec::new();
        let (mut members, mut at): (Vec<Vec<Member>>, u32) = (Vec::new(), 0);
        for ty in types {
            let mut values = Vec::new();
            add_values(model, ty, &mut sets, &mut values);
            domains.push((ty, at));
            at += values.len() as u32;
            members.push(values);
        }
        let tables = tables(&sets, &members)?;
        let functions = running(model, &loops.spans);
        Some(Orders { loops: loops.spans, domains, tables, functions })
    }

    /// Where the values of the domain of a loop are in a table, if the loop is tried.
    pub(crate) fn table_of(&self, binder: Span, domain: &Domain) -> Option<u32> {
        let Domain::Type(ty) = domain else { return None };
        let place = self.domains.iter().find(|(domain, _)| domain == ty);
        place.filter(|_| self.loops.contains(&binder)).map(|&(_, at)| at)
    }

    /// Whether the body of a rule may run a tried loop.
    pub(crate) fn concern(&self, rule: &Rule) -> bool {
        let mut runs = Runs { loops: &self.loops, functions: &self.functions, any: false };
        walk::statements(&rule.body, &mut runs);
        runs.any
    }

    /// The natural order.
    pub(crate) fn natural(&self) -> *const u16 {
        self.tables[0].as_ptr()
    }
}

/// Appends the values of a domain, and the scalarsets among them whose order is tried.
fn add_values(model: &Model, ty: TypeId, sets: &mut Vec<(TypeId, u32)>, values: &mut Vec<Member>) {
    match model.simple(ty) {
        Some(Simple::Union(members)) => {
            members.iter().for_each(|&member| add_values(model, member, sets, values));
        }
        Some(Simple::Scalarset(size)) if *size > 1 && !model.is_ordered(ty, true) => {
            let number = sets.iter().position(|&(set, _)| set == ty).unwrap_or_else(|| {
                sets.push((ty, *size));
                sets.len() - 1
            });
            values.extend((0..*size).map(|member| Some((number, member))));
        }
        _ => values.extend((0..model.count(ty)).map(|_| None)),
    }
}

/// The tables of all orders of the members of some sets, unless there are too many or only one.
fn tables(sets: &[(TypeId, u32)], domains: &[Vec<Member>]) -> Option<Vec<Vec<u16>>> {
    let factorial = |size: u32| (1..=size as usize).try_fold(1usize, usize::checked_mul);
    let mut all = 1usize;
    for &(_, size) in sets {
        all = all.checked_mul(factorial(size)?).filter(|&all| all <= MOST)?;
    }
    let fits = domains.iter().all(|domain| domain.len() <= usize::from(u16::MAX));
    if all == 1 || !fits {
        return None;
    }
    let table = |mut number: usize| {
        let orders: Vec<Vec<u32>> = sets
            .iter()
            .map(|&(_, size)| {
                let count = factorial(size).expect("it was computed before");
                let order = order(size, number % count);
                number /= count;
                order
            })
            .collect();
        let value = |domain: &Vec<Member>, at: usize| match domain[at] {
            None => at as u16,
            // The members of a set follow each other.
            Some((set, member)) => {
                (at + orders[set][member as usize] as usize - member as usize) as u16
            }
        };
        let values =
            domains.iter().flat_map(|domain| (0..domain.len()).map(move |at| (domain, at)));
        values.map(|(domain, at)| value(domain, at)).collect()
    };
    Some((0..all).map(table).collect())
}

/// One of the orders of `0..size`; number 0 is the natural one.
fn order(size: u32, mut number: usize) -> Vec<u32> {
    let mut left: Vec<u32> = (0..size).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let next = number % left.len();
        number /= left.len();
        order.push(left.remove(next));
    }
    order
}

/// For each function, whether it may run one of these loops, perhaps through others.
fn running(model: &Model, loops: &HashSet<Span>) -> Vec<bool> {
    let mut functions = vec![false; model.functions.len()];
    // A function calls only functions before it, unless it is recursive.
    loop {
        let before = functions.clone();
        for (number, function) in model.functions.iter().enumerate() {
            let mut runs = Runs { loops, functions: &functions, any: false };
            walk::statements(&function.body, &mut runs);
            functions[number] = runs.any;
        }
        if functions == before {
            return functions;
        }
    }
}

/// The domains of tried loops whose order is tried.
struct Loops<'m> {
    model: &'m Model,
    spans: HashSet<Span>,
    found: Vec<TypeId>,
}

impl Visitor for Loops<'_> {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::For { binder, .. } = &statement.kind
            && let Domain::Type(ty) = binder.domain
            && self.spans.contains(&binder.span)
            && self.model.is_unordered(ty)
        {
            self.found.push(ty);
        }
    }
}

/// Whether a tried loop may be run.
struct Runs<'o> {
    loops: &'o HashSet<Span>,
    functions: &'o [bool],
    any: bool,
}

impl Visitor for Runs<'_> {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::For { binder, .. } = &statement.kind {
            self.any |= self.loops.contains(&binder.span);
        }
    }

    fn call(&mut self, call: &Call) {
        self.any |= self.functions[call.function.0 as usize];
    }
}

/// A rule that is being run in every order.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The order that is tried.
    order: usize,
    /// What the rule led to in the natural order.
    outcome: Outcome,
    state: Vec<u8>,
    /// Set when the order shows.
    shows: Arc<AtomicBool>,
}

impl Trial {
    /// One that sets a flag when the order shows.
    pub(crate) fn new(shows: &Arc<AtomicBool>) -> Trial {
        let shows = Arc::clone(shows);
        Trial { order: 0, outcome: Outcome::Done, state: Vec::new(), shows }
    }

    /// Whether the natural order is being tried.
    pub(crate) fn is_first(&self) -> bool {
        self.order == 0
    }

    /// Begins with a rule anew.
    pub(crate) fn reset(&mut self) {
        self.order = 0;
    }

    /// Takes in what the rule led to in the order that is tried. Gives the next order, if there is
    /// one.
    pub(crate) fn next(
        &mut self,
        orders: &Orders,
        shapes: &Shapes,
        (outcome, state): (Outcome, &[u8]),
    ) -> Option<*const u16> {
        let done = outcome == Outcome::Done;
        if self.is_first() {
            self.outcome = outcome;
            self.state.clear();
            self.state.extend_from_slice(if done { state } else { &[] });
        } else if outcome != self.outcome
            || done && self.state != state && !shapes.same_states(&self.state, state)
        {
            self.shows.store(true, Relaxed);
            self.order = 0;
            return None;
        }
        self.order = (self.order + 1) % orders.tables.len();
        (!self.is_first()).then(|| orders.tables[self.order].as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_there_once_and_the_natural_one_is_the_first() {
        for (size, count) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
            let all: HashSet<Vec<u32>> = (0..count).map(|number| order(size, number)).collect();
            assert_eq!(all.len(), count);
            assert_eq!(order(size, 0), (0..size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_table_has_all_domains_in_one_order() {
        let sets = [(TypeId(5), 2), (TypeId(6), 3)];
        let first: Vec<Member> = vec![Some((0, 0)), Some((0, 1))];
        let both = [vec![None], first.clone(), (0..3).map(|member| Some((1, member))).collect()];
        let tables = tables(&sets, &[first, both.concat()]).expect("there are twelve");
        assert_eq!(tables.len(), 12);
        assert_eq!(tables[0], [0, 1, 0, 1, 2, 3, 4, 5]);
        assert_eq!(tables.iter().collect::<HashSet<_>>().len(), 12);
        for table in &tables {
            assert_eq!(table[0] == 1, table[3] == 2, "{table:?}");
            assert_eq!(table[2], 0);
            assert_eq!(table[5..].iter().map(|&value| u32::from(value)).sum::<u32>(), 12);
        }
        assert!(super::tables(&[(TypeId(0), 7)], &[vec![]]).is_none());
        assert!(super::tables(&[], &[vec![None]]).is_none());
    }
}
