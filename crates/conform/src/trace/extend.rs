//! A run that goes on until it shows in which order its stores count.
//!
//! An observer objects to a run by the order in which its stores happened, or were committed. If no
//! processor has seen that order, another one may explain the loads, and the memory model allows
//! the trace. But the run need not end there. From its last state the protocol is searched on,
//! breadth first and without further stores; wherever a processor can load a value that it has not
//! seen there last, it does. What goes on is still a run of the protocol, so a trace that is then
//! refused is a violation, and one that is not says nothing new.
//!
//! Loads that change nothing and do not matter are taken out again. Then the steps are taken by the
//! composed model, where each value is what it stands for. Cost: for each of as many states as are
//! allowed, all its rules are interpreted and a verdict is found if there are new loads.

use std::collections::HashSet;

use explore::Step;
use murphi::instance;
use murphi::interpret::End;
use murphi::ir::{Domain, Rule, TypeKind};
use murphi::value::State;

use super::MemoryTrace;
use super::lift::RepeatedRun;

/// A run that went on, with its loads and stores.
pub(crate) struct Extension {
    pub(crate) run: Vec<Step>,
    pub(crate) trace: MemoryTrace,
}

/// Lets a run go on, through so many states at most, until `is_refused` says so of its trace;
/// nothing if it never does.
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
    /// Whether it changes nothing.
    stutters: bool,
}

/// A state, how it was reached from another one, and the loads that were then done in it.
struct Node {
    parent: Option<usize>,
    moves: Vec<Move>,
    state: State,
}

struct Search<'a> {
    lifted: &'a RepeatedRun<'a>,
    run: &'a [Step],
    /// The most states that are looked at.
    states: usize,
    nodes: Vec<Node>,
    known: HashSet<Vec<u8>>,
}

impl Search<'_> {
    /// The moves to a trace that is refused.
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

    /// Adds a state with the loads that show something new there. Returns all moves if the trace is
    /// then refused.
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

    /// The states after one, as far as they are new.
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

    /// What can happen in a state without a store.
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

/// The trace of the run and of what follows.
fn trace(lifted: &RepeatedRun<'_>, moves: &[Move]) -> MemoryTrace {
    let mut trace = lifted.trace.clone();
    for (later, step) in moves.iter().enumerate() {
        let mut events = step.events.clone();
        events.events.iter_mut().for_each(|event| event.step += later);
        trace.append(events);
    }
    trace
}

/// The moves without loads that change nothing and are not needed.
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

/// The step of the composed model that a move stands for.
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

/// What the parameters of a move may be in the composed model.
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
            // Positions mean nothing, so any may be the one.
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
