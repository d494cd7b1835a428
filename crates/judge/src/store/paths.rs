//! What a model file keeps of program order, as edges.
//!
//! A path of a model is a sequence of steps with a test at each stop. Most paths only ask for kinds
//! (`[R];po;[M]`, fences): those become the table of kinds and fences that the built-in models have,
//! and cost what they cost there. The others (annotations, dependencies, rules 2, 3 and 12 of RVWMO)
//! are walked one by one (`walk`). Steps along reads-from count where it is known who read what.

mod recorded_pairs;
mod sorts;
mod walk;

use cat::{CatModel, EventSort, Path, SetTest, Step};
use history::{EventId, History, Kinds, Source};
use models::{Keeps, StoreRules};

use self::recorded_pairs::RecordedPairs;
use self::sorts::sorts;
use super::graph::EdgeSink;
use super::program_order::{FenceOrders, Meaning};

/// Where the events of a history come from: which of them are halves of atomics, and what the trace
/// says of them.
pub(crate) trait Parts {
    /// The history that is judged.
    fn history(&self) -> &History;
    /// The history of the trace.
    fn trace(&self) -> &History;
    /// The event of the trace.
    fn origin(&self, event: EventId) -> EventId;
    /// The events that an event of the trace has become: the first, and how many.
    fn become_of(&self, origin: EventId) -> (EventId, usize);
    /// Whether atomics are two events.
    fn are_split(&self) -> bool;
    /// Whether an event is the writing half of an atomic.
    fn is_write_half(&self, event: EventId) -> bool;
}

/// The events of a history by what they are, and what is kept of program order between them.
pub(crate) struct PreservedOrder<'a> {
    model: &'a CatModel,
    /// The halves of each sort of events: one, or two for an atomic that is one event.
    sorts: Vec<Vec<EventSort>>,
    /// The sort of each event.
    of: Vec<u16>,
    /// What each sort of fences orders.
    fences: Vec<Vec<(Kinds, Kinds)>>,
    /// What is kept by kinds.
    pub(crate) table: StoreRules,
    /// Whether real time is kept, between all accesses.
    pub(crate) real_time: bool,
    walked: Vec<Walked>,
}

/// A path that is walked.
struct Walked {
    /// Which sorts pass each stop.
    stops: Vec<Vec<bool>>,
    steps: Vec<Step>,
    of_different_writes: bool,
    /// Which sorts end a walk along an address.
    ends: Vec<bool>,
}

/// The table that keeps nothing.
const NOTHING: StoreRules = StoreRules {
    read_read: Keeps::Never,
    read_write: Keeps::Never,
    write_read: Keeps::Never,
    write_write: Keeps::Never,
    times: false,
    dependencies: false,
    own_reads_visible: false,
    same_address_reads_swap: false,
    global: true,
};

impl<'a> PreservedOrder<'a> {
    /// What the paths of a model keep on a history; `None` if some path is of a form that cannot be
    /// walked.
    pub(crate) fn new(
        model: &'a CatModel,
        paths: &[Path],
        own_reads: bool,
        parts: &impl Parts,
    ) -> Option<Self> {
        let (sorts, of) = sorts(parts);
        let fences = vec![Vec::new(); sorts.len()];
        let table = StoreRules { own_reads_visible: own_reads, ..NOTHING };
        let mut kept = PreservedOrder {
            model,
            sorts,
            of,
            fences,
            table,
            real_time: false,
            walked: Vec::new(),
        };
        let said = RecordedPairs::new(parts);
        let stops: Vec<Vec<Vec<bool>>> = paths.iter().map(|path| kept.stops(path)).collect();
        let with_stops = || paths.iter().zip(&stops);
        if with_stops().any(|(path, stops)| kept.starts_at_fences(path, stops))
            && with_stops().any(|(path, stops)| kept.ends_at_some_fences(path, stops, &said))
        {
            return None;
        }
        for (path, stops) in paths.iter().zip(stops) {
            kept.keep(path, stops, &said)?;
        }
        Some(kept)
    }

    /// Which sorts pass each stop of a path.
    fn stops(&self, path: &Path) -> Vec<Vec<bool>> {
        let tests = std::iter::once(&path.first).chain(path.steps.iter().map(|(_, tests)| tests));
        tests.map(|tests| self.passing(tests)).collect()
    }

    /// Which sorts pass all of these tests.
    fn passing(&self, tests: &[SetTest]) -> Vec<bool> {
        let passes = |half: &EventSort| tests.iter().all(|&test| self.model.is_in(test, half));
        self.sorts.iter().map(|halves| halves.iter().any(passes)).collect()
    }

    fn is_fence(&self, sort: usize) -> bool {
        self.sorts[sort][0].fence.is_some()
    }

    fn admits_fences(&self, stop: &[bool]) -> bool {
        (0..stop.len()).any(|sort| stop[sort] && self.is_fence(sort))
    }

    /// Whether a path can start at a fence.
    fn starts_at_fences(&self, path: &Path, stops: &[Vec<bool>]) -> bool {
        let leaves = matches!(
            path.steps.first(),
            Some((Step::ProgramOrder | Step::InTime | Step::RealTime, _))
        );
        leaves && self.admits_fences(&stops[0])
    }

    /// Whether a path leads to fences and not to all that comes later. Then a path that starts at a
    /// fence goes on from there; else it says nothing new.
    fn ends_at_some_fences(&self, path: &Path, stops: &[Vec<bool>], said: &RecordedPairs) -> bool {
        let (Some(last), Some(&(step, _))) = (stops.last(), path.steps.last()) else {
            return false;
        };
        let reaches_fences = match step {
            Step::ProgramOrder => !last.iter().all(|&passes| passes),
            Step::InTime | Step::RealTime => said.has_times,
            Step::Dependency(kind) => said
                .of_kind(kind)
                .iter()
                .any(|&(to, _)| self.is_fence(usize::from(self.of[to.index()]))),
            _ => false,
        };
        let exists = !path.steps.iter().any(|&(step, _)| said.is_empty(step));
        exists && reaches_fences && self.admits_fences(last)
    }

    /// The kinds that pass a stop, if that depends on nothing but kinds.
    fn kinds_at(&self, stop: &[bool]) -> Option<Kinds> {
        [Kinds::READS, Kinds::WRITES, Kinds::ALL].into_iter().find(|&kinds| {
            (0..stop.len()).all(|sort| stop[sort] == self.kinds_of_sort(sort).meets(kinds))
        })
    }

    fn kinds_of_sort(&self, sort: usize) -> Kinds {
        let of = |half: &EventSort| Kinds { reads: half.reads, writes: half.writes };
        self.sorts[sort].iter().map(of).fold(Kinds::NONE, Kinds::union)
    }

    fn keep(&mut self, path: &Path, mut stops: Vec<Vec<bool>>, said: &RecordedPairs) -> Option<()> {
        let steps: Vec<Step> = path.steps.iter().map(|&(step, _)| step).collect();
        if steps.is_empty() {
            // Events related to themselves: a cycle each, which no model asks for.
            return None;
        }
        if steps.iter().any(|&step| said.is_empty(step)) {
            return Some(());
        }
        // Fences are no events of their own: what passes one is ordered by it.
        for end in [0, steps.len()] {
            for (sort, passes) in stops[end].iter_mut().enumerate() {
                *passes &= !self.is_fence(sort);
            }
        }
        if stops.iter().any(|stop| !stop.contains(&true)) {
            return Some(());
        }
        if steps.contains(&Step::AtomicBack) {
            return None;
        }
        if steps.contains(&Step::RealTime) {
            let is_of_all =
                |stop: &[bool]| (0..stop.len()).all(|sort| stop[sort] || self.is_fence(sort));
            let is_plain = steps.len() == 1 && stops.iter().all(|stop| is_of_all(stop));
            self.real_time = true;
            return is_plain.then_some(());
        }
        let kinds = (self.kinds_at(&stops[0]), self.kinds_at(&stops[steps.len()]));
        if let ((Some(first), Some(last)), false) = (kinds, path.of_different_writes) {
            match steps[..] {
                [Step::ProgramOrder] => {
                    self.keep_kinds(first, last, Keeps::Always);
                    return Some(());
                }
                [Step::SameAddress] => {
                    self.keep_kinds(first, last, Keeps::SameAddress);
                    return Some(());
                }
                [Step::InTime] if first == Kinds::READS && last == Kinds::ALL => {
                    self.table.times = true;
                    return Some(());
                }
                [Step::ProgramOrder, Step::ProgramOrder] if self.are_fences(&stops[1]) => {
                    for sort in (0..stops[1].len()).filter(|&sort| stops[1][sort]) {
                        let orders = &mut self.fences[sort];
                        if !orders.contains(&(first, last)) {
                            orders.push((first, last));
                        }
                    }
                    return Some(());
                }
                _ => {}
            }
        }
        self.walk(steps, stops, path.of_different_writes, !said.atomics.is_empty())
    }

    fn are_fences(&self, stop: &[bool]) -> bool {
        (0..stop.len()).all(|sort| !stop[sort] || self.is_fence(sort))
    }

    fn keep_kinds(&mut self, first: Kinds, last: Kinds, keeps: Keeps) {
        let table = &mut self.table;
        let mut cell = |wanted: bool, cell: fn(&mut StoreRules) -> &mut Keeps| {
            let cell = cell(table);
            if wanted && *cell != Keeps::Always {
                *cell = keeps;
            }
        };
        cell(first.reads && last.reads, |t| &mut t.read_read);
        cell(first.reads && last.writes, |t| &mut t.read_write);
        cell(first.writes && last.reads, |t| &mut t.write_read);
        cell(first.writes && last.writes, |t| &mut t.write_write);
    }

    /// Keeps a path that has to be walked.
    fn walk(
        &mut self,
        steps: Vec<Step>,
        stops: Vec<Vec<bool>>,
        of_different_writes: bool,
        has_halves: bool,
    ) -> Option<()> {
        if steps.contains(&Step::InTime) {
            return None;
        }
        let mut ends = vec![false; self.sorts.len()];
        for step in &steps {
            if let &Step::SameAddressWithout(set) = step {
                let these = self.passing(&[set]);
                if ends.contains(&true) && ends != these {
                    return None;
                }
                ends = these;
            }
        }
        let is_rule_two = matches!(steps[..], [Step::SameAddress | Step::SameAddressWithout(_)])
            && stops[0] == stops[1]
            && self.kinds_at(&stops[0]) == Some(Kinds::READS);
        if of_different_writes && !is_rule_two {
            return None;
        }
        let is_without_writes = matches!(steps[..], [Step::SameAddressWithout(_)])
            && (0..ends.len()).all(|sort| ends[sort] == self.kinds_of_sort(sort).writes);
        if of_different_writes && is_without_writes && !has_halves {
            // The write that the second read returned overwrites what the first one returned, and is
            // of another thread: from-read and reads-from say it already. (The two may be the read
            // of an atomic and a read of its own write; then they do not.)
            return Some(());
        }
        self.walked.push(Walked { stops, steps, of_different_writes, ends });
        Some(())
    }

    /// Whether there are atomics or pairs.
    pub(crate) fn has_pairs(&self) -> bool {
        self.sorts.iter().flatten().any(|sort| sort.is_atomic || sort.is_exclusive)
    }

    /// Whether what is kept depends on who read what.
    pub(crate) fn depends_on_reads(&self) -> bool {
        self.walked
            .iter()
            .any(|path| path.of_different_writes || path.steps.contains(&Step::ReadsOwn))
    }

    /// Adds the edges of the paths that are walked.
    pub(crate) fn walk_paths(
        &self,
        graph: &mut impl EdgeSink,
        parts: &impl Parts,
        sources: &[Option<Source>],
    ) {
        let said = RecordedPairs::new(parts);
        for path in &self.walked {
            if path.of_different_writes {
                self.different_writes(graph, parts, sources, path);
            } else {
                self.walk_path(graph, parts, sources, path, &said);
            }
        }
    }

    fn sort(&self, event: EventId) -> usize {
        usize::from(self.of[event.index()])
    }
}

impl Meaning for (&PreservedOrder<'_>, &History) {
    fn kinds(&self, event: EventId) -> Kinds {
        self.0.kinds_of_sort(self.0.sort(event))
    }

    fn fence(&self, event: EventId) -> FenceOrders<'_> {
        let pairs = &self.0.fences[self.0.sort(event)];
        // The node of a fence that orders all kinds counts as following all accesses before it.
        let orders = self.0.sorts[self.0.sort(event)][0].fence;
        let before = orders.map_or(Kinds::NONE, |(before, _)| before);
        let by_its_node =
            matches!(pairs[..], [(first, _)] if first == Kinds::ALL || before != Kinds::ALL);
        FenceOrders { pairs: pairs.into(), by_its_node }
    }
}
