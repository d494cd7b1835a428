//! The readers with several candidate sources, and the order in which to try them.

use evidence::{Atom, Literal, Reader};
use history::{EventId, History, Source};
use rustc_hash::FxHashMap;

use super::candidate_filter::CandidateFilter;
use super::check::Problem;
use super::guess::Guess;
use super::operations::{Op, ReadsFrom};
use crate::Budget;

/// How many candidates are ruled out before the search, at most.
const FROM_THE_FUTURE: usize = 100_000;

/// Why not to choose a candidate, compared from left to right.
pub(super) type Doubt = (bool, bool, u32);

/// The readers whose source is part of the question.
#[derive(Debug)]
pub(super) struct Choices<'a> {
    problem: &'a Problem<'a>,
    readers: Vec<Reader>,
    numbers: FxHashMap<Reader, u32>,
    guess: Guess,
}

impl<'a> Choices<'a> {
    /// The open readers that matter to the model, in the order of the guessed interleaving.
    pub(super) fn new(problem: &'a Problem<'a>, budget: &Budget) -> Self {
        let mut readers: Vec<Reader> = ambiguous(problem.history)
            .filter(|reader| matches!(reader, Reader::Event(_)) || problem.orders_writes())
            .collect();
        let guess = if readers.is_empty() {
            Guess::default()
        } else {
            Guess::new(problem.history, &problem.ops, budget)
        };
        readers.sort_by_key(|reader| match *reader {
            Reader::Event(event) | Reader::Part(event, _) => guess.time(event),
            Reader::Final(_) | Reader::FinalPart(_, _) => u32::MAX,
        });
        let numbers = readers.iter().zip(0..).map(|(&reader, number)| (reader, number)).collect();
        Choices { problem, readers, numbers, guess }
    }

    /// The reader and the candidate of a literal.
    pub(super) fn find(&self, literal: Literal) -> Option<(u32, u32)> {
        let Atom::Reads(reader, source) = literal.atom else { return None };
        let reader = *self.numbers.get(&reader)?;
        let candidate = self.candidates(reader).binary_search(&source).ok()?;
        Some((reader, candidate as u32))
    }

    pub(super) fn len(&self) -> usize {
        self.readers.len()
    }

    pub(super) fn candidates(&self, reader: u32) -> &'a [Source] {
        sources(self.problem.history, self.readers[reader as usize])
    }

    pub(super) fn literal(&self, reader: u32, candidate: u32) -> Literal {
        Literal::reads(self.readers[reader as usize], self.candidates(reader)[candidate as usize])
    }

    /// Puts a choice into effect, or takes it back.
    pub(super) fn set(&self, reads_from: &mut ReadsFrom, reader: u32, candidate: Option<u32>) {
        let ops = &self.problem.ops;
        let source = candidate.map_or(super::operations::From::Open, |c| {
            ops.source(self.candidates(reader)[c as usize])
        });
        match self.readers[reader as usize] {
            Reader::Event(event) | Reader::Part(event, _) => {
                reads_from.set(ops.read_of(event), source)
            }
            Reader::Final(address) | Reader::FinalPart(address, _) => {
                let lines = self.problem.history.finals();
                if let Some(line) = lines.iter().position(|line| line.address == address) {
                    reads_from.finals[line] = source;
                }
            }
        }
    }

    /// Whether the choices so far leave room for a candidate.
    pub(super) fn is_possible(
        &self,
        candidate_filter: &CandidateFilter,
        reader: u32,
        candidate: u32,
    ) -> bool {
        let ops = &self.problem.ops;
        let source = ops.source(self.candidates(reader)[candidate as usize]);
        match self.readers[reader as usize] {
            Reader::Event(event) | Reader::Part(event, _) => {
                candidate_filter.allows(ops, ops.read_of(event), source)
            }
            Reader::Final(_) | Reader::FinalPart(_, _) => true,
        }
    }

    /// The candidate that was guessed.
    pub(super) fn guessed(&self, reader: u32) -> Option<u32> {
        let source = match self.readers[reader as usize] {
            Reader::Event(event) | Reader::Part(event, _) => self.guess.source(event)?,
            Reader::Final(address) | Reader::FinalPart(address, _) => {
                self.guess.final_source(address)?
            }
        };
        self.candidates(reader).binary_search(&source).ok().map(|c| c as u32)
    }

    /// How little a candidate has going for it: first what the choices so far leave room for, of
    /// that what was written before the read took place, and of that the latest.
    pub(super) fn doubt(
        &self,
        candidate_filter: &CandidateFilter,
        reader: u32,
        candidate: u32,
    ) -> Doubt {
        let time = match self.candidates(reader)[candidate as usize] {
            Source::Initial => 0,
            Source::Write(write) => self.guess.time(write),
        };
        let at = match self.readers[reader as usize] {
            Reader::Event(event) | Reader::Part(event, _) => self.guess.time(event),
            Reader::Final(_) | Reader::FinalPart(_, _) => u32::MAX,
        };
        (!self.is_possible(candidate_filter, reader, candidate), time >= at, time.abs_diff(at))
    }

    /// Candidates that are later writes of the reader's own thread, or the reader itself, as
    /// (reader, candidate, read, write). Not all where there are very many; a check finds the rest.
    pub(super) fn sources_from_the_future(&self) -> Vec<(u32, u32, Op, Op)> {
        let ops = &self.problem.ops;
        let mut found = Vec::new();
        for (number, &reader) in self.readers.iter().enumerate() {
            let Reader::Event(event) = reader else { continue };
            let read = ops.read_of(event);
            // Sources are in the order of ids, so those of the thread come together.
            let sources = self.candidates(number as u32);
            let start = sources.partition_point(|&source| source < Source::Write(event));
            for (candidate, &source) in sources.iter().enumerate().skip(start) {
                let Source::Write(later) = source else { continue };
                let write = ops.write_of(later);
                if !ops.program_order(read, write) {
                    break;
                }
                if found.len() == FROM_THE_FUTURE {
                    return found;
                }
                found.push((number as u32, candidate as u32, read, write));
            }
        }
        found
    }
}

/// Every reader with more than one candidate.
pub(super) fn ambiguous(history: &History) -> impl Iterator<Item = Reader> + '_ {
    let events = history.event_ids().filter(|&e| history.sources(e).len() > 1).map(Reader::Event);
    let finals = history.finals().iter().filter(|f| f.sources.len() > 1);
    events.chain(finals.map(|f| Reader::Final(f.address)))
}

/// The candidates of a reader.
pub(super) fn sources(history: &History, reader: Reader) -> &[Source] {
    match reader {
        Reader::Event(event) | Reader::Part(event, _) => history.sources(event),
        Reader::Final(address) | Reader::FinalPart(address, _) => {
            history.finals().iter().find(|f| f.address == address).map_or(&[], |f| &f.sources)
        }
    }
}

/// A reader that nobody can have given its value.
pub(super) fn has_thin_air(history: &History) -> bool {
    let nobody =
        |event: EventId| history.event(event).is_read() && history.sources(event).is_empty();
    history.event_ids().any(nobody) || history.finals().iter().any(|f| f.sources.is_empty())
}
