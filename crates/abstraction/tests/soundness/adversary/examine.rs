//! Asks about a program in several ways, and compares with the truth.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chance::Rng;
use explore::{Deadlock, Options};
use tribunal_abstraction::{Lemma, Prepared, View, find_processor, prepare, read_lemmas};

use super::family::Member;
use super::faults::Kind;
use super::mix::{Answer, Mix, count};
use super::program::Program;
use super::truth::{Broken, truth};
use super::words::Words;
use crate::judge::{Said, read, said, source};
use crate::sabotage::Sabotage;

/// A way to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The abstraction in this view.
    View(View),
    /// The whole loop in this view.
    Loop(View),
}

impl Way {
    /// The least number of processors that a proof is about.
    fn least(self) -> u64 {
        match self {
            Way::View(view) => view.concrete + u64::from(view.named),
            Way::Loop(view) => view.concrete,
        }
    }
}

/// A wrong answer.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    pub(crate) program: Program,
    pub(crate) kind: Kind,
    pub(crate) way: Way,
    /// The least number of processors that breaks it.
    pub(crate) least: Option<u64>,
    pub(crate) why: String,
}

/// All views that are asked about.
const VIEWS: [View; 4] = [
    View { concrete: 2, named: false },
    View { concrete: 2, named: true },
    View { concrete: 3, named: false },
    View { concrete: 3, named: true },
];

/// What is refused in a view of three is asked again in one of these.
const WIDE: [View; 2] = [View { concrete: 4, named: false }, View { concrete: 5, named: false }];

/// Asks about a member of a family: in views, by the whole loop now and then, and again with the
/// lemmas of a hostile user where the answer was an alarm.
pub(crate) fn examine(
    member: &Member,
    sabotage: Sabotage,
    rng: &mut Rng,
    mix: &mut Mix,
) -> Vec<Wrong> {
    let Member { program, kind, broken, .. } = member;
    let (kind, broken) = (*kind, *broken);
    mix.made(kind, broken);
    let is_late = broken.least_from(0).is_none_or(|least| least > 3);
    let mut views = VIEWS;
    rng.shuffle(&mut views);
    let mut ways: Vec<Way> =
        views[..if is_late { 2 } else { 1 }].iter().map(|&view| Way::View(view)).collect();
    if is_late && rng.percent(6) && sabotage == Sabotage::Nothing {
        ways.push(Way::Loop(VIEWS[rng.below(3)]));
    }
    let mut wrong = Vec::new();
    while let Some(way) = ways.pop() {
        let (answer, found) = asked(program, kind, broken, way, sabotage);
        let row = match way {
            Way::View(view) if WIDE.contains(&view) => &mut mix.in_wide_views,
            Way::View(view) => {
                if answer == Answer::Refused && view == VIEWS[2] {
                    ways.push(Way::View(WIDE[rng.below(2)]));
                }
                mix.kinds.entry(kind).or_default()
            }
            Way::Loop(_) => &mut mix.by_the_loop,
        };
        count(row, &answer, found.is_some());
        wrong.extend(found);
        if answer == Answer::Alarm && broken != Broken::default() {
            let least = broken.least_from(0).unwrap_or(0);
            mix.with_lemmas.broken_with[least as usize] += 1;
            let mut words =
                Words { rng: &mut *rng, about: program.text(), bound: program.bound, names: 50 };
            let program = Program { lemmas: words.lemmas(program), ..program.clone() };
            let (answer, found) = asked(&program, kind, broken, way, sabotage);
            count(&mut mix.with_lemmas, &answer, found.is_some());
            wrong.extend(found);
        }
    }
    wrong
}

/// Asks, and says what is wrong with the answer, if anything is.
fn asked(
    program: &Program,
    kind: Kind,
    broken: Broken,
    way: Way,
    sabotage: Sabotage,
) -> (Answer, Option<Wrong>) {
    let answer = answer(program, way, sabotage);
    let why = match &answer {
        Answer::Verified => {
            let least = broken.least_from(way.least());
            least.map(|least| format!("broken with {least}, verified"))
        }
        Answer::Malformed(why) => Some(format!("malformed: {why}")),
        Answer::Alarm | Answer::Refused => None,
    };
    let least = broken.least_from(0);
    let wrong = why.map(|why| Wrong { program: program.clone(), kind, way, least, why });
    (answer, wrong)
}

/// What is said about a program.
fn answer(program: &Program, way: Way, sabotage: Sabotage) -> Answer {
    let read_program = read(&program.text());
    let text = program.lemmas.join("\n");
    let given = |prepared: &Prepared| -> Option<Vec<Lemma>> {
        if text.is_empty() { Some(Vec::new()) } else { read_lemmas(&source(&text), prepared).ok() }
    };
    let Ok(prepared) = prepare(&read_program, Some("P")) else { return Answer::Refused };
    let Some(lemmas) = given(&prepared) else { return Answer::Refused };
    match way {
        Way::View(view) => {
            let lemmas = |_: &Prepared| lemmas.clone();
            match said(&read_program, view, sabotage, lemmas) {
                Said::Holds => Answer::Verified,
                Said::Open | Said::TooLarge => Answer::Alarm,
                Said::Refused => Answer::Refused,
                Said::Broken(why) => Answer::Malformed(why),
            }
        }
        Way::Loop(view) => by_the_loop(&prepared, view, lemmas),
    }
}

/// What the whole loop says with little time.
fn by_the_loop(prepared: &Prepared, view: View, lemmas: Vec<Lemma>) -> Answer {
    let time = Some(Duration::from_millis(300));
    let search = Options { deadlock: Deadlock::Off, time, threads: 1, ..Default::default() };
    let abstraction = tribunal_abstraction::Options { view, ..Default::default() };
    let options = refine::Options { abstraction, search, lemmas, ..Default::default() };
    match refine::verify(prepared, &options, &mut |_, _| (), &AtomicBool::new(false)) {
        Err(refine::Failure::Unsuitable(_)) => Answer::Refused,
        Err(refine::Failure::Unrunnable(why)) => Answer::Malformed(format!("{why:?}")),
        Ok(found) => match found.verdict {
            refine::Verdict::Verified if found.left_out.is_empty() => Answer::Verified,
            _ => Answer::Alarm,
        },
    }
}

/// A smaller program about which the answer is wrong as well, and that fewer processors do not break
/// either. The truth about it is asked anew.
pub(crate) fn reduced(wrong: &Wrong) -> Wrong {
    let mut best = wrong.clone();
    'again: loop {
        for program in best.program.smaller() {
            if let Some(why) = still_wrong(&program, best.way, best.least) {
                best = Wrong { program, why, ..best };
                continue 'again;
            }
        }
        return best;
    }
}

/// Why the answer about a program is wrong, if it is. A part that is missing may make it no program.
fn still_wrong(program: &Program, way: Way, least: Option<u64>) -> Option<String> {
    let text = source(&program.text());
    murphi::load(text.clone(), &murphi::check::Options::default()).ok()?;
    match answer(program, way, Sabotage::Nothing) {
        Answer::Malformed(why) => Some(format!("malformed: {why}")),
        Answer::Verified => {
            let read = read(&text.text);
            let processor = find_processor(&read, Some("P")).ok()?;
            let truth = truth(&read, &processor, program.rules.len());
            let broken = truth.of(0..program.rules.len(), 0..program.invariants.len());
            if broken.least_from(0) < least {
                return None;
            }
            let least = broken.least_from(way.least())?;
            Some(format!("broken with {least}, verified"))
        }
        Answer::Alarm | Answer::Refused => None,
    }
}
