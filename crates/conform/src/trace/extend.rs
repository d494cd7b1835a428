//! Extends a run until loads reveal the coherence order.
//!
//! An observer rejects a run because of the order in which its stores happened or were committed.
//! If no processor has seen that order, another order may explain the loads, and the memory model
//! allows the trace. So the protocol is searched further from the last state of the run,
//! breadth-first and without stores; wherever a processor can load a value that it has not loaded
//! there last, it does. The longer run is a run of the protocol, so a trace that is then rejected
//! is a violation.
//!
//! Loads that change nothing and do not matter are removed at the end. Then the steps are replayed
//! by the composed model, in which each value is replaced by its class. The cost, for each state up
//! to the limit, is to interpret all rules, and to judge the trace if there are new loads.

use std::collections::HashSet;

use explore::Step;
use murphi::instance;
use murphi::interpret::End;
use murphi::ir::{Domain, Rule, TypeKind};
use murphi::value::State;

use super::MemoryTrace;
use super::lift::RepeatedRun;

/// An extended run, with its loads and stores.
pub(crate) struct Extension {
    pub(crate) run: Vec<Step>,
    pub(crate) trace: MemoryTrace,
}

/// Extends a run through at most `states` states, until `is_refused` accepts its trace; `None` if
/// it never does.
pub(crate) fn extend(
    lifted: &RepeatedRun<'_>,
    run: &[Step],
    states: usize,
    is_refused: &mut dyn FnMut(&MemoryTrace) -> bool,
) -> Option<Extension> {
    let mut search = Search { lifted, run, states, nodes: Vec::new(), known: HashSet::new() };
    let moves = search.search(is_refused)?;
    let moves = without_idle_loads(lifted, moves, is_refused);
    let trace = trace(lifted, &moves);
    let mut run = run.to_vec();
    for step in &moves {
        run.push(lowered(lifted, run.last()?, step)?);
    }
    Some(Extension { run, trace })
}

/// A step of the protocol with many values.
#[derive(Clone)]
struct Move {
    rule: usize,
    instance: u64,
    next: State,
    events: MemoryTrace,
    /// Whether it leaves the state unchanged.
    stutters: bool,
}

/// A state, its predecessor, and the loads that were performed in it.
struct Node {
    parent: Option<usize>,
    moves: Vec<Move>,
    state: State,
}

struct Search<'a> {
    lifted: &'a RepeatedRun<'a>,
    run: &'a [Step],
    /// The largest number of states.
    states: usize,
    nodes: Vec<Node>,
    known: HashSet<Vec<u8>>,
}

impl Search<'_> {
    /// The moves to a trace that is rejected.
    fn search(&mut self, is_refused: &mut dyn FnMut(&MemoryTrace) -> bool) -> Option<Vec<Move>> {
        self.known.insert(self.key(&self.lifted.state));
        let state = self.lifted.state.clone();
        let mut arrived = vec![Node { parent: None, moves: Vec::new(), state }];
        let mut next = 0;
        loop {
            for node in arrived {
                if let Some(moves) = self.arrive(node, is_refused) {
                    return Some(moves);
                }
            }
            if next == self.nodes.len() {
                return None;
            }
            arrived = self.successors(next);
            next += 1;
        }
    }

    /// Adds a state with the loads that return new values there. Returns all moves if the trace is
    /// then rejected.
    fn arrive(
        &mut self,
        mut node: Node,
        is_refused: &mut dyn FnMut(&MemoryTrace) -> bool,
    ) -> Option<Vec<Move>> {
        let mut moves = self.way(node.parent);
        moves.append(&mut node.moves);
        let before = moves.len() - usize::from(node.parent.is_some());
        let mut so_far = trace(self.lifted, &moves);
        for step in self.moves(&node.state).into_iter().filter(|step| step.stutters) {
            if step.events.events.iter().any(|load| so_far.is_news(load)) {
                so_far.append(step.events.clone());
                moves.push(step);
            }
        }
        let loads = moves[before..].iter().any(|step| !step.events.events.is_empty());
        if loads && is_refused(&so_far) {
            return Some(moves);
        }
        node.moves = moves.split_off(before);
        self.nodes.push(node);
        None
    }

    /// The new successors of a state.
    fn successors(&mut self, at: usize) -> Vec<Node> {
        let mut found = Vec::new();
        for step in self.moves(&self.nodes[at].state) {
            if self.known.len() < self.states
                && !step.stutters
                && self.known.insert(self.key(&step.next))
            {
                let state = step.next.clone();
                found.push(Node { parent: Some(at), moves: vec![step], state });
            }
        }
        found
    }

    /// The moves of a state without stores.
    fn moves(&self, state: &State) -> Vec<Move> {
        let interpreter = &self.lifted.interpreter;
        let (model, key) = (interpreter.model(), self.key(state));
        let mut moves = Vec::new();
        for (rule, definition) in model.rules.iter().enumerate() {
            for instance in 0..instance::count(model, &definition.parameters).unwrap_or(0) {
                let run = interpreter.run_rule(state, rule, instance);
                let End::Done(next) = run.end else { continue };
                let Some(events) = self.lifted.events(self.run.len(), &run.output) else {
                    continue;
                };
                if events.events.iter().all(|event| !event.is_store) {
                    let stutters = self.key(&next) == key;
                    moves.push(Move { rule, instance, next, events, stutters });
                }
            }
        }
        moves
    }

    /// The moves to a node.
    fn way(&self, mut node: Option<usize>) -> Vec<Move> {
        let mut parts = Vec::new();
        while let Some(at) = node {
            parts.push(&self.nodes[at].moves);
            node = self.nodes[at].parent;
        }
        parts.into_iter().rev().flatten().cloned().collect()
    }

    fn key(&self, state: &State) -> Vec<u8> {
        let (model, layout) = (self.lifted.interpreter.model(), self.lifted.interpreter.layout());
        state.sorted(model, layout).encode(model, layout)
    }
}

/// The trace of the run and its extension.
fn trace(lifted: &RepeatedRun<'_>, moves: &[Move]) -> MemoryTrace {
    let mut trace = lifted.trace.clone();
    for (later, step) in moves.iter().enumerate() {
        let mut events = step.events.clone();
        events.events.iter_mut().for_each(|event| event.step += later);
        trace.append(events);
    }
    trace
}

/// The moves without unneeded loads that change nothing.
fn without_idle_loads(
    lifted: &RepeatedRun<'_>,
    mut moves: Vec<Move>,
    is_refused: &mut dyn FnMut(&MemoryTrace) -> bool,
) -> Vec<Move> {
    for at in (0..moves.len()).rev() {
        if moves[at].stutters {
            let mut fewer = moves.clone();
            fewer.remove(at);
            if is_refused(&trace(lifted, &fewer)) {
                moves = fewer;
            }
        }
    }
    moves
}

/// The step of the composed model that corresponds to a move.
fn lowered(lifted: &RepeatedRun<'_>, before: &Step, step: &Move) -> Option<Step> {
    let lemma = lifted.lemma;
    let (model, layout) = (lemma.model(), lemma.layout());
    let state = State::decode(model, layout, &before.state).ok()?;
    let rule = &model.rules[step.rule];
    for values in lowered_values(lifted, rule, step) {
        let Some(instance) = instance::encode(model, &rule.parameters, &values) else { continue };
        if let End::Done(next) = lemma.run_rule(&state, step.rule, instance).end
            && lifted.reaches(&step.next, &next)
        {
            let state = next.encode(model, layout);
            return Some(Step { rule: step.rule as u32, instance, state });
        }
    }
    None
}

/// The possible values of a move's parameters in the composed model.
fn lowered_values(lifted: &RepeatedRun<'_>, rule: &Rule, step: &Move) -> Vec<Vec<i64>> {
    let (high, low) = (lifted.interpreter.model(), lifted.lemma.model());
    let taken = instance::decode(high, &high.rules[step.rule].parameters, step.instance);
    let mut candidates = vec![Vec::new()];
    for (binder, taken) in instance::binders(&rule.parameters).zip(taken) {
        let choices: Vec<i64> = match &binder.domain {
            Domain::Type(ty) if *ty == lifted.lemma_value => {
                let known = usize::try_from(taken - high.lowest(lifted.lifted_value)).ok();
                let class = known.and_then(|known| lifted.stands_for.get(known));
                class.map(|class| class + low.lowest(lifted.lemma_value)).into_iter().collect()
            }
            // Positions have no meaning, so any of them may correspond.
            Domain::Multiset(place) => match low.kind(place.ty) {
                TypeKind::Multiset { capacity, .. } => (0..i64::from(*capacity)).collect(),
                _ => Vec::new(),
            },
            _ => vec![taken],
        };
        let longer = candidates.iter().flat_map(|values: &Vec<i64>| {
            choices.iter().map(move |choice| [&values[..], &[*choice]].concat())
        });
        candidates = longer.collect();
    }
    candidates
}
