//! The smallest part of a history that still violates a model.
//!
//! Delta debugging (Zeller and Hildebrandt, 2002) that listens to the evidence: the proof of each
//! violation names the events that matter, so the first step goes from the whole history to those,
//! and only what is left is tried line by line. The result is 1-minimal: dropping any one of its
//! lines (an event with the readers of its value, a fence, an `init`, `final` or `order` line, a
//! dependency, a time) leaves something consistent or malformed.
//!
//! Where values repeat there are two meanings of "part". A part that keeps, with a reader, every
//! write it may have read from, violates the model only if the whole history does. Leaving out all
//! but one of them may get smaller, at the price of a violation that the missing writes could
//! explain away. The first is always searched; the second only when asked for, see
//! [`ShrinkOptions`].
//!
//! Costs one judgement for each line of the few that the proof leaves, in the usual case, and then
//! some for other violations, in case one is smaller.

mod part;
mod seed;
#[cfg(test)]
mod tests;

use evidence::{Proof, Verdict};
use history::{AddressId, AddressLabel, EventId, History};

use crate::{AnyModel, Budget, Engine};
use part::{Part, ReaderRemoval, ValueReaders};

/// How to shrink.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShrinkOptions {
    /// Keep, with every reader, all writes it may have read from: the part then violates the model
    /// only if the whole does, but may be larger. Makes no difference where values are unique.
    pub keep_sources: bool,
}

/// A part of a history that violates the model.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The part. Its events carry the lines of the original.
    pub history: History,
    /// Why it violates the model.
    pub proof: Proof,
    /// How many parts were judged.
    pub judged: u64,
    /// How many of those got no answer within the budget; they count as no violation, so that the
    /// result may not be minimal.
    pub undecided: u64,
    /// Whether some reader lost a write it may have read from (never with
    /// [`ShrinkOptions::keep_sources`]).
    pub sources_dropped: bool,
}

/// The smallest part of `history` that still violates `model`, a built-in one or that of a file,
/// given the proof that `history` does.
///
/// When the budget runs out, the smallest part found so far.
pub fn shrink(
    history: &History,
    model: impl Into<AnyModel>,
    proof: &Proof,
    options: ShrinkOptions,
    budget: &Budget,
) -> Shrunk {
    let memory_model = model.into();
    let mut search = Search {
        current: history.clone(),
        origin: history.event_ids().collect(),
        proof: proof.clone(),
        sources_dropped: false,
        removal: ReaderRemoval::AnyCandidateGone,
        memory_model: &memory_model,
        budget,
        judged: 0,
        undecided: 0,
    };
    search.descend(options);
    // A causal model may take long where it is open who read what.
    let is_store = memory_model.model().is_none_or(|model| model.store_rules().is_some());
    let polynomial = is_store || history.is_unambiguous();
    if polynomial {
        search.look_elsewhere(history, options);
    }
    let Search { current, proof, judged, undecided, sources_dropped, .. } = search;
    Shrunk { history: current, proof, judged, undecided, sources_dropped }
}

/// How many events may be looked at again in search of other, smaller violations.
const ELSEWHERE: usize = 2_000_000;

struct Search<'a> {
    current: History,
    /// The event of the original that each current one is.
    origin: Vec<EventId>,
    proof: Proof,
    sources_dropped: bool,
    removal: ReaderRemoval,
    memory_model: &'a AnyModel,
    budget: &'a Budget,
    judged: u64,
    undecided: u64,
}

impl Search<'_> {
    /// To a part without a line too many.
    fn descend(&mut self, options: ShrinkOptions) {
        self.removal = ReaderRemoval::AnyCandidateGone;
        self.start();
        self.drop_groups();
        self.drop_lines();
        if !options.keep_sources {
            self.removal = ReaderRemoval::AllCandidatesGone;
            self.sources_dropped = self.drop_lines();
        }
    }

    /// A history may violate the model in several ways, and the first proof need not be of the
    /// smallest. So leaves out of the whole, in turn, each event of the part found, and descends
    /// from what saturation finds then.
    fn look_elsewhere(&mut self, history: &History, options: ShrinkOptions) {
        let value_readers = ValueReaders::new(history);
        let mut left_out = 0;
        let mut looks = ELSEWHERE / history.len().max(1);
        while let (Some(&event), 1..) = (self.origin.get(left_out), looks) {
            left_out += 1;
            looks -= 1;
            let mut part = Part::whole(history);
            part.drop_events(history, &value_readers, [event], ReaderRemoval::AnyCandidateGone);
            let Some(rest) = part.build(history) else { continue };
            if self.budget.is_spent() {
                return;
            }
            self.judged += 1;
            let refuted = self.memory_model.refute(&rest, Engine::Saturation, self.budget);
            let Verdict::Broken(proof) = refuted else { continue };
            let origin = part.kept().collect();
            let mut other = Search { current: rest, origin, proof, ..*self };
            other.descend(options);
            self.judged = other.judged;
            self.undecided = other.undecided;
            if lines(&other.current) < lines(&self.current) {
                *self = other;
                left_out = 0;
            }
        }
    }

    /// From the whole history to what its proof speaks of.
    fn start(&mut self) {
        if let Some(part) = seed::out_of_thin_air(&self.current)
            && self.attempt(&part)
        {
            return;
        }
        let mentioned = seed::mentioned(&self.current, &self.proof);
        if self.attempt(&mentioned) || self.attempt(&seed::widened(&self.current, &mentioned)) {
            self.follow_proof();
        }
    }

    /// Whether the part still violates the model; if so, it is the new whole.
    fn attempt(&mut self, part: &Part) -> bool {
        let Some(candidate) = part.build(&self.current) else { return false };
        if self.budget.is_spent() {
            self.undecided += 1;
            return false;
        }
        self.judged += 1;
        match self.memory_model.refute(&candidate, Engine::Auto, self.budget) {
            Verdict::Broken(proof) => {
                self.origin = part.kept().map(|e| self.origin[e.index()]).collect();
                self.current = candidate;
                self.proof = proof;
                true
            }
            Verdict::Undecided(_) => {
                self.undecided += 1;
                false
            }
            Verdict::Holds(_) => false,
        }
    }

    /// Goes to what the latest proof speaks of, as long as that gets smaller.
    fn follow_proof(&mut self) {
        loop {
            let mentioned = seed::mentioned(&self.current, &self.proof);
            if mentioned.len() >= self.current.len() || !self.attempt(&mentioned) {
                return;
            }
        }
    }

    /// Whether the violation survives without these events and those that cannot do without them.
    fn attempt_without(&mut self, events: impl IntoIterator<Item = EventId>) -> bool {
        let mut part = Part::whole(&self.current);
        part.drop_events(&self.current, &ValueReaders::new(&self.current), events, self.removal);
        if self.attempt(&part) {
            self.follow_proof();
            return true;
        }
        false
    }

    /// Drops whole threads, whole addresses, then halves, quarters and so on.
    fn drop_groups(&mut self) {
        for t in (0..self.current.thread_count()).rev() {
            if let Some(thread) = self.current.threads().nth(t) {
                self.attempt_without(self.current.thread_events(thread));
            }
        }
        for a in (0..self.current.address_count()).rev() {
            if let Some(address) = self.current.address_ids().nth(a) {
                let accesses = |e: &EventId| self.current.event(*e).address() == Some(address);
                let events: Vec<_> = self.current.event_ids().filter(accesses).collect();
                self.attempt_without(events);
            }
        }
        let mut size = self.current.len() / 2;
        while size > 1 {
            let mut start = 0;
            while start < self.current.len() {
                let events = self.current.event_ids().skip(start).take(size);
                if !self.attempt_without(events) {
                    start += size;
                }
            }
            size /= 2;
        }
    }

    /// Drops lines one by one until none can go; whether any went.
    fn drop_lines(&mut self) -> bool {
        let mut any = false;
        while self.drop_each_event() | self.drop_each_remark() {
            any = true;
        }
        any
    }

    fn drop_each_event(&mut self) -> bool {
        let mut any = false;
        let mut at = self.current.len();
        while at > 0 {
            at -= 1;
            if self.attempt_without([EventId::new(at)]) {
                any = true;
                at = at.min(self.current.len());
            }
        }
        any
    }

    /// Drops what is said beside the events: `final`, `order` and `init` lines, dependencies,
    /// times.
    fn drop_each_remark(&mut self) -> bool {
        let mut any = false;
        for i in (0..self.current.finals().len()).rev() {
            any |= self.attempt_dropping(|part| &mut part.finals, i);
        }
        for i in (0..self.current.orders().len()).rev() {
            any |= self.attempt_dropping(|part| &mut part.orders, i);
        }
        for i in (0..self.current.address_count()).rev() {
            // What is said of bytes is said of all addresses that they are in.
            let said = self.inits_with(i);
            if !said.is_empty() && said.iter().all(|&at| self.may_drop_init(at)) {
                let mut part = Part::whole(&self.current);
                said.into_iter().for_each(|at| part.inits[at] = false);
                any |= self.attempt_with_fewer_remarks(&part);
            }
        }
        for i in (0..self.current.dependencies().len()).rev() {
            any |= self.attempt_dropping(|part| &mut part.dependencies, i);
        }
        for i in (0..self.current.len()).rev() {
            if self.current.times(EventId::new(i)) != Default::default() {
                any |= self.attempt_dropping(|part| &mut part.times, i);
            }
        }
        any
    }

    /// Drops one remark. Events and the other remarks keep their places, so the caller's loop
    /// over them stays right.
    fn attempt_dropping(&mut self, kind: fn(&mut Part) -> &mut Vec<bool>, index: usize) -> bool {
        let mut part = Part::whole(&self.current);
        match kind(&mut part).get_mut(index) {
            Some(kept) => *kept = false,
            None => return false,
        }
        self.attempt_with_fewer_remarks(&part)
    }

    /// Whether the part violates the model and says less beside its events.
    fn attempt_with_fewer_remarks(&mut self, part: &Part) -> bool {
        let before = remarks(&self.current);
        self.attempt(part) && remarks(&self.current) < before
    }

    /// The addresses with an `init` line that have bytes in common with this one, itself among them.
    fn inits_with(&self, address: usize) -> Vec<usize> {
        let history = &self.current;
        let Some(id) = history.address_ids().nth(address) else { return Vec::new() };
        if history.address(id).init_line.is_none() {
            return Vec::new();
        }
        let bytes = |id| match history.address(id).label {
            AddressLabel::Bytes(range) => Some(range),
            AddressLabel::Number(_) | AddressLabel::Name(_) => None,
        };
        let overlaps = |other: AddressId| {
            bytes(id).zip(bytes(other)).is_some_and(|(a, b)| a.overlaps(b)) || id == other
        };
        let said = history.address_ids().filter(|&a| history.address(a).init_line.is_some());
        said.filter(|&other| overlaps(other)).map(AddressId::index).collect()
    }

    /// Whether this address has an `init` line that readers do not need.
    fn may_drop_init(&self, address: usize) -> bool {
        let Some(id) = self.current.address_ids().nth(address) else { return false };
        let address = self.current.address(id);
        address.init_line.is_some()
            && (address.initial == 0
                || self.removal == ReaderRemoval::AllCandidatesGone
                || !ValueReaders::new(&self.current).take_initial(&self.current, id))
    }
}

/// How many lines the trace of a history has, dependencies counted too.
fn lines(history: &History) -> usize {
    let inits = history.address_ids().filter(|&a| history.address(a).init_line.is_some()).count();
    let others = history.finals().len() + history.orders().len() + history.dependencies().len();
    history.len() + inits + others
}

/// How much is said beside the events.
fn remarks(history: &History) -> usize {
    let timed = history.event_ids().filter(|&e| history.times(e) != Default::default()).count();
    lines(history) - history.len() + timed
}
