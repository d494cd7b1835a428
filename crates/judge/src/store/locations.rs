//! Locations one by one: a witness for models that order nothing but the accesses of each location.
//!
//! Where it is known who read from whom, a location is simple. The reads of a write stand between it
//! and the next one, and an atomic stands right behind the write that it read. So writes form
//! *blocks*: a write, the atomic that read it, the atomic that read that one, and so on; the first
//! block of a location holds the atomics behind the initial value. What each thread saw, one version
//! after the other (`coherence.rs`), orders versions of one block, where the order is given, and
//! blocks among each other. Any order of blocks that agrees with this is a witness, and if there is
//! none the history is a violation, of which saturation writes the proof. O(n), without inference.

use history::{EventId, History, Kinds, Source};
use models::StoreRules;
use rustc_hash::FxHashSet;

use super::coherence::seen_orders;

const NONE: u32 = u32::MAX;

/// An order of all accesses that explains a history location by location. Nothing if there is none,
/// or if something else has to be respected. The source of every read must be known.
pub(super) fn order(history: &History, rules: &StoreRules) -> Option<Vec<EventId>> {
    debug_assert!(!rules.global, "locations are independent");
    if rules.dependencies || !history.orders().is_empty() {
        return None;
    }
    let sources: Vec<Option<Source>> =
        history.event_ids().map(|event| history.only_source(event)).collect();
    let blocks = Blocks::new(history, &sources)?;
    let heads = blocks.in_order(history, rules, &sources)?;
    Some(blocks.accesses(history, &sources, &heads))
}

/// The writes of a history in blocks.
struct Blocks {
    /// The first write of the block of each write.
    head: Vec<u32>,
    /// Where each write stands in its block.
    place: Vec<u32>,
    /// The atomic that read each write.
    next: Vec<u32>,
    /// The first atomic of each location that read the initial value.
    initial: Vec<u32>,
}

impl Blocks {
    /// Nothing if two atomics read the same, or some read each other.
    fn new(history: &History, sources: &[Option<Source>]) -> Option<Self> {
        let mut blocks = Self {
            head: vec![NONE; history.len()],
            place: vec![0; history.len()],
            next: vec![NONE; history.len()],
            initial: vec![NONE; history.address_count()],
        };
        for event in history.event_ids().filter(|&event| history.kinds_of(event) == Kinds::ALL) {
            let next = match sources[event.index()]? {
                Source::Write(write) => &mut blocks.next[write.index()],
                Source::Initial => &mut blocks.initial[history.address_of(event)?.index()],
            };
            if std::mem::replace(next, event.index() as u32) != NONE {
                return None;
            }
        }
        for event in history.event_ids().filter(|&event| history.kinds_of(event) == Kinds::WRITES) {
            blocks.name(event.index() as u32);
        }
        for address in 0..blocks.initial.len() {
            if blocks.initial[address] != NONE {
                blocks.name(blocks.initial[address]);
            }
        }
        let is_named = |event: EventId| blocks.head[event.index()] != NONE;
        let all = history.event_ids().all(|e| !history.kinds_of(e).writes || is_named(e));
        all.then_some(blocks)
    }

    /// Gives all writes of a block their head and place.
    fn name(&mut self, head: u32) {
        let (mut write, mut place) = (head, 0);
        while write != NONE {
            self.head[write as usize] = head;
            self.place[write as usize] = place;
            place += 1;
            write = self.next[write as usize];
        }
    }

    /// The first writes of all blocks, in an order that what the threads saw agrees with.
    fn in_order(
        &self,
        history: &History,
        rules: &StoreRules,
        sources: &[Option<Source>],
    ) -> Option<Vec<u32>> {
        let mut agrees = true;
        let mut orders: Vec<(u32, u32)> = Vec::with_capacity(history.len());
        let seen = seen_orders(history, rules, sources, |order| {
            let (before, after) = (order.before.index(), order.after.index());
            match (self.head[before], self.head[after]) {
                (a, b) if a == b => agrees &= self.place[before] < self.place[after],
                (a, b) => orders.push((a, b)),
            }
        });
        if seen.is_err() || !agrees {
            return None;
        }
        let mut waits_for = vec![0u32; history.len()];
        let mut starts = vec![0u32; history.len() + 1];
        for &(before, after) in &orders {
            waits_for[after as usize] += 1;
            starts[before as usize] += 1;
        }
        // From counts to ends; filling turns the ends into starts.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut later = vec![0u32; orders.len()];
        for (before, after) in orders {
            let place = &mut starts[before as usize];
            *place -= 1;
            later[*place as usize] = after;
        }
        // The block behind an initial value comes before all others of its location.
        let firsts: Vec<u32> = self.initial.iter().copied().filter(|&head| head != NONE).collect();
        if firsts.iter().any(|&head| waits_for[head as usize] > 0) {
            return None;
        }
        let is_first = |head: u32| history.kinds_of(EventId::new(head as usize)).reads;
        let is_last = self.last(history)?;
        let heads = (0..).zip(&self.head).filter(|&(write, &head)| write == head);
        let heads: Vec<u32> = heads.map(|(write, _)| write).collect();
        let mut ready: Vec<u32> = heads
            .iter()
            .copied()
            .filter(|&head| waits_for[head as usize] == 0 && !is_first(head))
            .chain(firsts)
            .collect();
        let mut order = Vec::with_capacity(heads.len());
        let mut lasts = Vec::new();
        while let Some(head) = ready.pop() {
            let later = &later[starts[head as usize] as usize..starts[head as usize + 1] as usize];
            if is_last.contains(&head) {
                if !later.is_empty() {
                    return None;
                }
                lasts.push(head);
                continue;
            }
            order.push(head);
            for &after in later {
                waits_for[after as usize] -= 1;
                if waits_for[after as usize] == 0 {
                    ready.push(after);
                }
            }
        }
        order.append(&mut lasts);
        (order.len() == heads.len()).then_some(order)
    }

    /// The blocks that come last in their location, as `final` lines say. Nothing if one cannot.
    fn last(&self, history: &History) -> Option<FxHashSet<u32>> {
        let mut lasts = FxHashSet::default();
        for line in history.finals() {
            let writes = &history.address(line.address).writes;
            match line.sources[..] {
                [Source::Initial] if writes.is_empty() => {}
                [Source::Write(last)] => {
                    let head = self.head[last.index()];
                    let is_alone = || writes.iter().all(|w| self.head[w.index()] == head);
                    let is_behind_initial = history.kinds_of(EventId::new(head as usize)).reads;
                    if self.next[last.index()] != NONE || is_behind_initial && !is_alone() {
                        return None;
                    }
                    lasts.insert(head);
                }
                _ => return None,
            }
        }
        Some(lasts)
    }

    /// All accesses, blocks in this order: reads of initial values, then each write with its reads
    /// behind it, in program order where they are of one thread.
    fn accesses(
        &self,
        history: &History,
        sources: &[Option<Source>],
        heads: &[u32],
    ) -> Vec<EventId> {
        let mut order: Vec<EventId> = Vec::with_capacity(history.len());
        let reads = || history.event_ids().filter(|&e| history.kinds_of(e) == Kinds::READS);
        order.extend(reads().filter(|e| sources[e.index()] == Some(Source::Initial)));
        // How many reads a write has; then where the next of them goes.
        let mut reads_of = vec![0u32; history.len()];
        for read in reads() {
            if let Some(Source::Write(write)) = sources[read.index()] {
                reads_of[write.index()] += 1;
            }
        }
        for &head in heads {
            let mut write = head;
            while write != NONE {
                let event = EventId::new(write as usize);
                order.push(event);
                let count = std::mem::replace(&mut reads_of[write as usize], order.len() as u32);
                order.resize(order.len() + count as usize, event);
                write = self.next[write as usize];
            }
        }
        for read in reads() {
            if let Some(Source::Write(write)) = sources[read.index()] {
                let place = &mut reads_of[write.index()];
                order[*place as usize] = read;
                *place += 1;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use certify::certify;
    use evidence::{Certificate, Evidence, Witness};
    use history::parse_text;
    use models::{Model, Rules};
    use oracle::{Shape, allows, random_histories, text};

    use super::order;

    fn decides(history: &history::History) -> Option<Evidence> {
        let Rules::Store(rules) = Model::Coherence.rules() else { return None };
        Some(Evidence::Consistent(Witness::Order(order(history, &rules)?)))
    }

    #[test]
    fn an_order_is_found_wherever_the_definition_allows_one() {
        let (mut consistent, mut violations) = (0, 0);
        for shape in Shape::all() {
            for (seed, history) in random_histories(&shape, 0..4_000) {
                if !history.is_unambiguous() || !history.orders().is_empty() {
                    continue;
                }
                let allowed = allows(&history, Model::Coherence);
                let found = decides(&history);
                assert_eq!(found.is_some(), allowed, "seed {seed}:\n{}", text(&history));
                let Some(evidence) = found else {
                    violations += 1;
                    continue;
                };
                consistent += 1;
                let certificate = Certificate { trace: 1, model: Model::Coherence, evidence };
                if let Err(why) = certify(&history, &certificate) {
                    panic!("seed {seed}: {why}\n{}", text(&history));
                }
            }
        }
        assert!(consistent > 1_000 && violations > 1_000, "{consistent}, {violations}");
    }

    #[test]
    fn a_final_value_is_that_of_the_last_block() {
        let found = |trace: &str| decides(&parse_text(trace).unwrap()).is_some();
        assert!(found("0: x := 1\n1: x := 2\n2: x := 3\nfinal x == 2\n"));
        assert!(found("0: { x == 0; x := 1 }\n1: { x == 1; x := 2 }\nfinal x == 2\n"));
        assert!(!found("0: x := 1\n1: { x == 1; x := 2 }\nfinal x == 1\n"));
        assert!(!found("0: { x == 0; x := 1 }\n1: x := 2\nfinal x == 1\n"));
        assert!(!found("0: x := 1\n0: x := 2\nfinal x == 1\n"));
        assert!(!found("0: x := 1\nfinal x == 0\n"));
    }
}
