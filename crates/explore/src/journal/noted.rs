//! An exploration as an entry of a journal: a search whose result is there is not made.
//!
//! Only what is the same every time is an entry. A search that was ended by the clock, by memory or by
//! somebody is none. States of runs are written as what changes from step to step.

use murphi::ir::Model;
use serde::{Deserialize, Serialize};

use super::Journal;
use crate::engine::Hook;
use crate::growth::{Depths, Growth};
use crate::job::digest;
use crate::options::{Options, Strategy};
use crate::result::{Exploration, PassedOver, Reason, Step, Verdict, ViolatingRun, Violation};
use crate::symmetry::Symmetry;

/// What a search found, and what was put around its machines has seen.
#[derive(Serialize, Deserialize)]
struct Noted {
    end: End,
    states: u64,
    rules_fired: u64,
    depth: u32,
    seconds: f64,
    bytes: u64,
    firings: Vec<u64>,
    covered: Vec<bool>,
    passed_over: Vec<(u32, Run)>,
    depths: Depths,
    growth: Growth,
    seen: Bytes,
}

/// How it ended.
#[derive(Serialize, Deserialize)]
enum End {
    Holds,
    Broken(Violation, Run),
    Bounded,
    Walked,
    /// What was put around its machines had seen enough.
    Enough,
}

/// The parts of a state that a step changes: where each begins, and its bytes.
type Changes = Vec<(usize, Bytes)>;

/// A run: of each step, the rule with its parameters, and what it changes.
#[derive(Serialize, Deserialize)]
struct Run(Vec<(u32, u64, Changes)>);

/// Bytes, as hexadecimal digits.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| DIGITS[digit as usize] as char);
        to.serialize_str(&self.0.iter().flat_map(digits).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
        let bytes: Option<Vec<u8>> = text.as_bytes().as_chunks().0.iter().map(byte).collect();
        bytes.map(Bytes).ok_or_else(|| serde::de::Error::custom("not hexadecimal digits"))
    }
}

/// Bytes that are the same, at most, between two that are written together.
const GAP: usize = 8;

impl Run {
    fn of(steps: &[Step]) -> Run {
        let before = |at: usize| at.checked_sub(1).map_or(&[][..], |at| &steps[at].state);
        let step = |(at, step): (usize, &Step)| {
            (step.rule, step.instance, changes(before(at), &step.state))
        };
        Run(steps.iter().enumerate().map(step).collect())
    }

    fn steps(self) -> Vec<Step> {
        let mut state: Vec<u8> = Vec::new();
        let step = |(rule, instance, changes): (u32, u64, Changes)| {
            for (at, Bytes(bytes)) in changes {
                state.resize(state.len().max(at + bytes.len()), 0);
                state[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            Step { rule, instance, state: state.clone() }
        };
        self.0.into_iter().map(step).collect()
    }
}

/// The parts of a state that are not as before.
fn changes(before: &[u8], after: &[u8]) -> Changes {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for at in (0..after.len()).filter(|&at| before.get(at) != Some(&after[at])) {
        match parts.last_mut() {
            Some((_, end)) if at <= *end + GAP => *end = at + 1,
            _ => parts.push((at, at + 1)),
        }
    }
    parts.into_iter().map(|(from, to)| (from, Bytes(after[from..to].to_vec()))).collect()
}

/// The search that a journal knows, or else makes; nothing is noted of one that cannot be known.
pub(crate) fn noted<H: Hook>(
    journal: &Journal,
    model: &Model,
    (options, symmetry): (&Options, Symmetry),
    hook: &H,
    search: impl FnOnce() -> Exploration,
) -> Exploration {
    let Some(key) = key(model, options, symmetry).filter(|_| hook.seen().is_some()) else {
        return search();
    };
    if let Some(noted) = journal.recall::<Noted>(&key)
        && hook.see(&noted.seen.0)
    {
        return noted.exploration();
    }
    let mut found = search();
    let noted = hook.seen().and_then(|seen| Noted::of(&found, hook.has_enough(), seen));
    if let Some(Err(error)) = noted.map(|noted| journal.note(&key, &noted)) {
        // Nobody could go on from here.
        found.verdict = Verdict::Undecided(Reason::Disk(error.to_string()));
    }
    found
}

/// What is searched, and how.
fn key(model: &Model, options: &Options, symmetry: Symmetry) -> Option<String> {
    let Options { strategy, deadlock, depth, states, pass_over, ref goals, .. } = *options;
    let is_kept = matches!(strategy, Strategy::Breadth | Strategy::Simulate { .. });
    let text = format!(
        "{strategy:?} {deadlock:?} {depth:?} {states:?} {pass_over} {symmetry:?} {model:?}"
    );
    (is_kept && goals.is_empty()).then(|| digest(text.as_bytes()))
}

impl Noted {
    fn of(found: &Exploration, has_enough: bool, seen: Vec<u8>) -> Option<Noted> {
        let end = match &found.verdict {
            Verdict::Holds(()) => End::Holds,
            Verdict::Broken(run) => End::Broken(run.violation, Run::of(&run.steps)),
            Verdict::Undecided(Reason::Depth) => End::Bounded,
            Verdict::Undecided(Reason::Simulated) => End::Walked,
            Verdict::Undecided(Reason::Interrupted) if has_enough => End::Enough,
            Verdict::Undecided(_) => return None,
        };
        let passed = |passed: &PassedOver| (passed.property, Run::of(&passed.run));
        Some(Noted {
            end,
            states: found.states,
            rules_fired: found.rules_fired,
            depth: found.depth,
            seconds: found.seconds,
            bytes: found.bytes,
            firings: found.firings.clone(),
            covered: found.covered.clone(),
            passed_over: found.passed_over.iter().map(passed).collect(),
            depths: found.depths.clone(),
            growth: found.growth.clone(),
            seen: Bytes(seen),
        })
    }

    fn exploration(self) -> Exploration {
        let verdict = match self.end {
            End::Holds => Verdict::Holds(()),
            End::Broken(violation, run) => {
                Verdict::Broken(ViolatingRun { violation, steps: run.steps() })
            }
            End::Bounded => Verdict::Undecided(Reason::Depth),
            End::Walked => Verdict::Undecided(Reason::Simulated),
            End::Enough => Verdict::Undecided(Reason::Interrupted),
        };
        let passed = |(property, run): (u32, Run)| PassedOver { property, run: run.steps() };
        Exploration {
            verdict,
            states: self.states,
            rules_fired: self.rules_fired,
            depth: self.depth,
            seconds: self.seconds,
            bytes: self.bytes,
            firings: self.firings,
            covered: self.covered,
            passed_over: self.passed_over.into_iter().map(passed).collect(),
            depths: self.depths,
            growth: self.growth,
            ..Exploration::nothing(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_written_and_read_as_they_are() {
        let step = |rule, state: &[u8]| Step { rule, instance: 7, state: state.to_vec() };
        let mut long = [0; 100];
        let first = long;
        long[3] = 9;
        long[90] = 255;
        let steps = [step(0, &first), step(1, &long), step(2, &first), step(3, &first)];
        let text = serde_json::to_string(&Run::of(&steps)).unwrap();
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap().steps(), steps);
        assert!(text.len() < 400, "{text}");
    }
}
