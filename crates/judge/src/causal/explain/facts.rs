//! Derived edges: what each rests on, and the order in which to show them.

use evidence::{Derived, Edge, Graph, Node, Reader, Rule};

use super::Explainer;
use super::atomic::AtomicStep;
use super::lines::{Line, Link, named};
use super::paths::path;
use crate::Reason;
use crate::causal::check::Side;
use crate::causal::clocks::Clocks;
use crate::causal::observe::{Observed, Observer};
use crate::causal::operations::{From, Op};

/// An edge that needs a derivation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Fact {
    /// Rule (2) of happens-before, by an entry in the log of a scope.
    Observed { side: u8, scope: u32, entry: u32 },
    /// The same, by causality alone: the write comes before the read.
    Seen { read: Op, write: Op },
    /// cf.
    Conflict { side: u8, read: Op, write: Op },
    /// A pair of writes in hb.
    StoreOrder { from: Op, to: Op },
    /// rw.
    Overwritten { read: Op, write: Op },
    /// Atomicity, by a step of the explainer.
    Atomic { step: u32 },
}

impl<'c> Explainer<'c> {
    /// What a fact rests on.
    fn premise(&mut self, fact: Fact) -> Result<Vec<Line>, Reason> {
        let check = self.check;
        Ok(match fact {
            Fact::Observed { side, scope, entry } => {
                let observer = self.scope(side as usize, scope)?;
                let (write, _, read) = observer.entry(entry);
                let hops = path(write, read, &Observed { observer, until: entry }, |_| true);
                self.lines(&named(hops, side, scope))?
            }
            Fact::Seen { read, write } => {
                let hops = path(write, read, &check.causal(0), |_| true);
                self.lines(&hops)?
            }
            Fact::Conflict { side, read, write } => {
                let hops = path(write, read, &check.happens_before_on(side as usize), |_| true);
                self.lines(&hops)?
            }
            Fact::StoreOrder { from, to } => {
                let hops = path(from, to, &check.happens_before_together(), |_| true);
                self.lines(&hops)?
            }
            Fact::Overwritten { read, write } => match check.reads_from.source(read) {
                From::Write(source) if check.problem.rules.store_order => {
                    self.store_path(source, write)?
                }
                From::Write(source) => {
                    let hops = path(source, write, &check.causal(0), |_| true);
                    self.lines(&hops)?
                }
                From::Initial | From::Open => Vec::new(),
            },
            Fact::Atomic { step } => self.premise_of_step(step)?,
        })
    }

    /// The observer of a scope, with its log.
    pub(super) fn scope(&mut self, side: usize, scope: u32) -> Result<&Observer<'c>, Reason> {
        let check = self.check;
        let Side { base, scopes } = &check.problem.sides[side];
        let reads = scopes.reads(scope as usize);
        let mut known = self.observer.take();
        if known.as_ref().is_none_or(|k| k.0 != side) {
            let causality = self.causality(side)?;
            let observer = Observer::new(&check.problem.ops, base, check.reads_from, causality);
            known = Some((side, u32::MAX, observer));
        }
        let entry = self.observer.insert(known.ok_or(Reason::Memory)?);
        if entry.1 != scope {
            entry.2.run(reads, check.budget)?;
            entry.1 = scope;
        }
        Ok(&entry.2)
    }

    /// The clocks of co, computed again when they are first needed.
    fn causality(&self, side: usize) -> Result<&'c Clocks, Reason> {
        let cell = &self.causality[side];
        if cell.get().is_none() {
            let clocks = Clocks::over(&self.check.causal(side), self.check.budget, |_| ())?;
            // It was acyclic before.
            let _ = cell.set(clocks.map_err(|_| Reason::Memory)?);
        }
        cell.get().ok_or(Reason::Memory)
    }

    /// The clocks of happens-before, likewise.
    pub(super) fn happens_before(&self) -> Result<&'c Clocks, Reason> {
        if self.happens_before.get().is_none() {
            let relation = self.check.happens_before_together();
            let clocks = Clocks::over(&relation, self.check.budget, |_| ())?;
            let _ = self.happens_before.set(clocks.map_err(|_| Reason::Memory)?);
        }
        self.happens_before.get().ok_or(Reason::Memory)
    }

    /// Derives every fact that the lines rest on, each after what it rests on itself.
    pub(super) fn derive(&mut self, lines: &[Line]) -> Result<(), Reason> {
        let mut open: Vec<(Fact, Vec<Line>)> = Vec::new();
        for fact in facts(lines) {
            let mut wanted = Some(fact);
            loop {
                if let Some(fact) = wanted
                    && !self.numbers.contains_key(&fact)
                {
                    let premise = self.premise(fact)?;
                    open.push((fact, premise));
                }
                let Some((_, premise)) = open.last() else { break };
                wanted = facts(premise).find(|fact| !self.numbers.contains_key(fact));
                if wanted.is_none()
                    && let Some((fact, premise)) = open.pop()
                {
                    let derived = self.derived(fact, &premise)?;
                    self.numbers.insert(fact, self.derived.len() as u32);
                    self.derived.push(derived);
                }
            }
        }
        Ok(())
    }

    fn derived(&mut self, fact: Fact, premise: &[Line]) -> Result<Derived, Reason> {
        let ops = &self.check.problem.ops;
        let path = premise.iter().map(|line| self.edge(line)).collect();
        let global = Graph::Global;
        Ok(match fact {
            Fact::Observed { side, scope, entry } => {
                let (write, _, read) = self.scope(side as usize, scope)?.entry(entry);
                let scopes = &self.check.problem.sides[side as usize].scopes;
                let last = scopes.reads(scope as usize).last().map(|&read| self.node(read));
                let graph = self.graph(side as usize);
                self.towards_source(Rule::Observed, graph, last, read, write, path)
            }
            Fact::Seen { read, write } => {
                let scope = Some(self.node(read));
                self.towards_source(Rule::Observed, global, scope, read, write, path)
            }
            Fact::Conflict { side, read, write } => {
                let graph = self.graph(side as usize);
                self.towards_source(Rule::Conflict, graph, None, read, write, path)
            }
            Fact::StoreOrder { from, to } => Derived {
                from: ops.node(from),
                to: ops.node(to),
                rule: Rule::StoreOrder,
                graph: global,
                scope: None,
                via: None,
                path,
            },
            Fact::Overwritten { read, write } => {
                self.readers.insert(Reader::Event(ops.event(read)));
                Derived {
                    from: ops.node(read),
                    to: ops.node(write),
                    rule: Rule::Overwritten,
                    graph: global,
                    scope: None,
                    via: Some(ops.node(read)),
                    path,
                }
            }
            Fact::Atomic { step } => {
                let AtomicStep { from, to, update, side, .. } = self.steps[step as usize];
                self.readers.insert(Reader::Event(ops.event(update)));
                Derived {
                    from: ops.node(from),
                    to: ops.node(to),
                    rule: Rule::Atomic,
                    graph: self.graph(side),
                    scope: None,
                    via: Some(ops.node(update)),
                    path,
                }
            }
        })
    }

    /// The edge from a write to the source of a read it comes before.
    fn towards_source(
        &mut self,
        rule: Rule,
        graph: Graph,
        scope: Option<Node>,
        read: Op,
        write: Op,
        path: Vec<Edge>,
    ) -> Derived {
        self.readers.insert(Reader::Event(self.check.problem.ops.event(read)));
        let (from, to) = (self.node(write), self.source(read));
        Derived { from, to, rule, graph, scope, via: Some(self.node(read)), path }
    }
}

fn facts(lines: &[Line]) -> impl Iterator<Item = Fact> + '_ {
    lines.iter().filter_map(|line| match line.link {
        Link::Fact(fact) => Some(fact),
        _ => None,
    })
}
