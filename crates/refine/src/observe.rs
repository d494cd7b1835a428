//! Records the rows of a concrete instance while it is explored: one row for every enabled rule in every
//! state, for every choice of witnesses.
//!
//! The observer is a machine wrapped around the machine that is explored, so that any search can be
//! observed: breadth-first search with symmetry, or random walks.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use explore::Hook;
use murphi::instance;
use murphi::interpret::Interpreter;
use murphi::ir::{Model, Type, TypeId};
use murphi::machine::{Check, Firing, Machine, Outcome, Successors};
use rustc_hash::FxHashMap;

use super::reader::{Label, Raw, Reader, Reading};
use super::table::Rows;
use super::vocabulary::{Variable, Vocabulary};

/// The largest number of rows that are kept for one rule.
const MOST_ROWS: usize = 400_000;

/// The rows observed in any number of instances.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observations {
    /// For each vocabulary, its rows.
    pub(crate) rows: Vec<Rows>,
    /// The number of states that were observed.
    pub(crate) states: u64,
}

impl Observations {
    /// All of it as bytes, the same every time.
    pub(crate) fn written(&self) -> Vec<u8> {
        let mut bytes = self.states.to_le_bytes().to_vec();
        for rows in &self.rows {
            let mut rows: Vec<&[Label]> = rows.iter().collect();
            rows.sort_unstable();
            bytes.extend((rows.len() as u32).to_le_bytes());
            for row in rows {
                bytes.extend((row.len() as u32).to_le_bytes());
                bytes.extend_from_slice(row);
            }
        }
        bytes
    }

    /// What was written, of so many vocabularies; nothing if it was not.
    pub(crate) fn read(mut bytes: &[u8], vocabularies: usize) -> Option<Observations> {
        let mut take = |length: usize| -> Option<&[u8]> {
            let (taken, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(taken)
        };
        let number = |bytes: &[u8]| Some(u32::from_le_bytes(*bytes.first_chunk()?) as usize);
        let states = u64::from_le_bytes(*take(8)?.first_chunk()?);
        let mut all = Vec::with_capacity(vocabularies);
        for _ in 0..vocabularies {
            let mut rows = Rows::default();
            for _ in 0..number(take(4)?)? {
                let length = number(take(4)?)?;
                rows.add(take(length)?);
            }
            all.push(rows);
        }
        bytes.is_empty().then_some(Observations { rows: all, states })
    }
}

/// Reads the rows of all vocabularies in the states of one instance.
pub(crate) struct RowReader {
    model: Arc<Model>,
    vocabularies: Arc<Vec<Vocabulary>>,
    readers: Vec<Reader>,
    /// For each rule, the number of its vocabulary.
    of_rule: Vec<Option<usize>>,
    /// For each vocabulary, the number of values of each variable in this instance.
    sizes: Vec<Vec<u64>>,
    /// Evaluates terms that are not variables.
    probes: Option<super::probe::Probes>,
    /// How rows are read, for the instances of rules that occurred so far.
    readings: FxHashMap<(u32, u64), Vec<Reading>>,
    row: Vec<Label>,
}

impl RowReader {
    /// Prepares to read `vocabularies` in the states of an instance.
    pub(crate) fn new(
        interpreter: &Interpreter,
        vocabularies: &Arc<Vec<Vocabulary>>,
        probes: Option<super::probe::Probes>,
    ) -> RowReader {
        let (model, layout) = (Arc::clone(interpreter.model()), interpreter.layout());
        let readers = vocabularies
            .iter()
            .map(|vocabulary| Reader::new(vocabulary, &model, layout, None))
            .collect();
        let mut of_rule = vec![None; model.rules.len()];
        for (number, vocabulary) in vocabularies.iter().enumerate() {
            of_rule[vocabulary.rule] = Some(number);
        }
        let vocabularies = Arc::clone(vocabularies);
        let sizes = vocabularies.iter().map(|vocabulary| sizes(vocabulary, &model)).collect();
        let readings = FxHashMap::default();
        RowReader {
            model,
            vocabularies,
            readers,
            of_rule,
            sizes,
            probes,
            readings,
            row: Vec::new(),
        }
    }

    /// Adds the rows of a state in which these rules are enabled.
    fn look(&mut self, state: &[u8], firings: &[Firing], seen: &mut Observations) {
        seen.states += 1;
        for firing in firings {
            let key = (firing.rule, firing.instance);
            if let (Some(number), false) =
                (self.of_rule[firing.rule as usize], self.readings.contains_key(&key))
            {
                self.readings.insert(key, self.readings_of(firing, number));
            }
        }
        let probed = self.probes.as_mut().map(|probes| probes.look(state));
        for firing in firings {
            if firing.outcome == Outcome::GuardFailed {
                continue;
            }
            let Some(number) = self.of_rule[firing.rule as usize] else { continue };
            if seen.rows[number].len() >= MOST_ROWS {
                continue;
            }
            let key = (firing.rule, firing.instance);
            let given: Vec<(usize, Raw)> = match &probed {
                Some(probed) => probed.of(number, firing.instance),
                None => Vec::new(),
            };
            let variables = self.vocabularies[number].variables.len();
            for reading in &self.readings[&key] {
                self.readers[number].read(reading, state, &mut self.row);
                for (term, raw) in &given {
                    self.row[variables + term] = raw.label();
                }
                seen.rows[number].add(&self.row);
            }
        }
    }

    /// How the rows of an instance of a rule are read, one for each choice of witnesses.
    fn readings_of(&self, firing: &Firing, number: usize) -> Vec<Reading> {
        let rule = &self.model.rules[firing.rule as usize];
        let values = instance::decode(&self.model, &rule.parameters, firing.instance);
        let vocabulary = &self.vocabularies[number];
        let mut numbers: Vec<Option<u64>> = Vec::with_capacity(vocabulary.variables.len());
        for (value, variable) in values.iter().zip(&vocabulary.variables) {
            let lowest = self.model.lowest(variable.ty);
            numbers.push(Some(value.wrapping_sub(lowest) as u64));
        }
        let mut readings = Vec::new();
        each_witness(vocabulary, &self.sizes[number], &mut numbers, &mut |numbers| {
            readings.push(self.readers[number].reading(vocabulary, numbers, &[]));
        });
        readings
    }
}

/// The number of values of each variable of a vocabulary in a model.
pub(crate) fn sizes(vocabulary: &Vocabulary, model: &Model) -> Vec<u64> {
    let size = |variable: &Variable| {
        let same = |ty: &Type| ty.name.is_some() && ty.name == variable.type_name;
        let ty = model.types.iter().position(same);
        ty.map_or(variable.count, |ty| model.count(TypeId(ty as u32)))
    };
    vocabulary.variables.iter().map(size).collect()
}

/// Calls `found` with the parameters and each choice of witnesses; witnesses of one type are
/// distinct.
pub(crate) fn each_witness(
    vocabulary: &Vocabulary,
    sizes: &[u64],
    numbers: &mut Vec<Option<u64>>,
    found: &mut dyn FnMut(&[Option<u64>]),
) {
    let at = numbers.len();
    let Some(variable) = vocabulary.variables.get(at) else {
        return found(numbers);
    };
    for number in 0..sizes[at] {
        let is_taken = (0..at).any(|earlier| {
            vocabulary.variables[earlier].type_name == variable.type_name
                && numbers[earlier] == Some(number)
        });
        if !is_taken {
            numbers.push(Some(number));
            each_witness(vocabulary, sizes, numbers, found);
            numbers.pop();
        }
    }
}

/// What the observers of several threads share.
pub(crate) struct Log {
    pub(crate) lens: RowReader,
    pub(crate) seen: Observations,
    /// After this number of states, nothing more is recorded.
    pub(crate) most_states: u64,
    /// Is set at that point, and ends the exploration.
    pub(crate) enough: Arc<AtomicBool>,
}

/// A machine whose states are observed.
pub(crate) struct Watched<M> {
    machine: M,
    log: Arc<Mutex<Log>>,
}

/// Wraps machines in observers with this log.
pub(crate) struct Observer<'a>(pub(crate) &'a Arc<Mutex<Log>>);

impl Hook for Observer<'_> {
    type Around<M: Machine> = Watched<M>;

    fn around<M: Machine>(&self, machine: M) -> Watched<M> {
        Watched { machine, log: Arc::clone(self.0) }
    }

    fn seen(&self) -> Option<Vec<u8>> {
        Some(self.log().seen.written())
    }

    fn see(&self, seen: &[u8]) -> bool {
        let mut log = self.log();
        let read = Observations::read(seen, log.seen.rows.len());
        read.map(|read| log.seen = read).is_some()
    }

    fn has_enough(&self) -> bool {
        let log = self.log();
        log.seen.states >= log.most_states
    }
}

impl Observer<'_> {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Watched<M> {
    fn note(&self, state: &[u8], firings: &[Firing]) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let Log { lens, seen, most_states, enough } = &mut *log;
        if seen.states < *most_states {
            lens.look(state, firings, seen);
        } else {
            enough.store(true, Relaxed);
        }
    }
}

impl<M: Machine> Machine for Watched<M> {
    fn start(&mut self, out: &mut Successors) {
        self.machine.start(out);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        let before = out.firings.len();
        self.machine.expand(state, out);
        self.note(state, &out.firings[before..]);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        self.machine.check(state)
    }

    fn covered(&self) -> &[bool] {
        self.machine.covered()
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let before = out.firings.len();
        let mut fired: Vec<Firing> = Vec::new();
        self.machine.run_in_portions(state, most, out, &mut |portion| {
            fired.extend_from_slice(&portion.firings);
            full(portion);
        });
        if let Some(state) = state {
            fired.extend_from_slice(&out.firings);
            self.note(state, &fired[before..]);
        }
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.machine.obey(stop);
    }

    fn footprint(&self) -> usize {
        self.machine.footprint()
    }
}
