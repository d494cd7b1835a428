//! Asks about a program in several ways, and compares with the truth.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chance::Rng;
use explore::{Deadlock, Options};
use recheck::read_lemmas;
use tribunal_abstraction::{Lemma, Prepared, View, find_processor, prepare};

use super::family::Member;
use super::faults::Kind;
use super::features::features;
use super::mix::{Answer, Mix};
use super::program::Program;
use super::truth::{Broken, truth};
use super::words::Words;
use crate::judge::{Said, parsed, read, said_of, source};
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

/// A program as it is asked about: prepared once for all views.
struct Asked<'a> {
    program: &'a Program,
    prepared: Option<Prepared>,
}

impl<'a> Asked<'a> {
    fn new(program: &'a Program) -> Asked<'a> {
        Asked { program, prepared: prepare(&parsed(&program.text()), Some("P")).ok() }
    }

    /// What is said about it with these lemmas.
    fn answer(&self, lemmas: &[String], way: Way, sabotage: Sabotage) -> Answer {
        let Some(prepared) = &self.prepared else { return Answer::Refused };
        let lemmas = match lemmas.is_empty() {
            true => Vec::new(),
            false => match read_lemmas(&source(&lemmas.join("\n")), prepared) {
                Ok(lemmas) => lemmas,
                Err(_) => return Answer::Refused,
            },
        };
        match way {
            Way::View(view) => match said_of(prepared, view, sabotage, &lemmas) {
                Said::Holds => Answer::Verified,
                Said::Open | Said::TooLarge => Answer::Alarm,
                Said::Refused => Answer::Refused,
                Said::Broken(why) => Answer::Malformed(why),
            },
            Way::Loop(view) => by_the_loop(prepared, view, lemmas),
        }
    }
}

/// Asks about a member of a family: in views, by the whole loop now and then, and again with the
/// lemmas of a hostile user where the answer was an alarm.
pub(crate) fn examine(
    member: &Member,
    sabotage: Sabotage,
    rng: &mut Rng,
    mix: &mut Mix,
) -> Vec<Wrong> {
    let Member { program, broken, .. } = member;
    let (broken, features) = (*broken, features(member));
    mix.each(&features, |row| row.enter(broken));
    let is_late = broken.least_from(0).is_none_or(|least| least > 3);
    let is_broken = broken != Broken::default();
    let mut views = VIEWS;
    rng.shuffle(&mut views);
    let count = if is_late && is_broken { 2 } else { 1 };
    let mut ways: Vec<Way> = views[..count].iter().map(|&view| Way::View(view)).collect();
    if is_late && rng.percent(2) && sabotage == Sabotage::Nothing {
        ways.push(Way::Loop(VIEWS[rng.below(3)]));
    }
    let asked = Asked::new(program);
    let mut wrong = Vec::new();
    while let Some(way) = ways.pop() {
        let (answer, found) = compared(&asked, member, &[], way, sabotage);
        let is_wrong = found.is_some();
        match way {
            Way::View(view) if WIDE.contains(&view) => mix.in_wide_views.count(&answer, is_wrong),
            Way::View(view) => {
                if answer == Answer::Refused && view == VIEWS[2] && asked.prepared.is_some() {
                    ways.push(Way::View(WIDE[rng.below(2)]));
                }
                mix.each(&features, |row| row.count(&answer, is_wrong));
            }
            Way::Loop(_) => mix.by_the_loop.count(&answer, is_wrong),
        }
        wrong.extend(found);
        if answer == Answer::Alarm && is_broken {
            mix.with_lemmas.enter(broken);
            let mut words =
                Words { rng: &mut *rng, about: program.text(), bound: program.bound, names: 50 };
            let lemmas = words.lemmas(program);
            let (answer, found) = compared(&asked, member, &lemmas, way, sabotage);
            mix.with_lemmas.count(&answer, found.is_some());
            wrong.extend(found);
        }
    }
    wrong
}

/// Asks, and says what is wrong with the answer, if anything is.
fn compared(
    asked: &Asked<'_>,
    member: &Member,
    lemmas: &[String],
    way: Way,
    sabotage: Sabotage,
) -> (Answer, Option<Wrong>) {
    let answer = asked.answer(lemmas, way, sabotage);
    let why = match &answer {
        Answer::Verified => {
            let least = member.broken.least_from(way.least());
            least.map(|least| format!("broken with {least}, verified"))
        }
        Answer::Malformed(why) => Some(format!("malformed: {why}")),
        Answer::Alarm | Answer::Refused => None,
    };
    let (kind, least) = (member.kind, member.broken.least_from(0));
    let program = || Program { lemmas: lemmas.to_vec(), ..asked.program.clone() };
    let wrong = why.map(|why| Wrong { program: program(), kind, way, least, why });
    (answer, wrong)
}

/// What the whole loop says with little time.
fn by_the_loop(prepared: &Prepared, view: View, lemmas: Vec<Lemma>) -> Answer {
    let time = Some(Duration::from_millis(200));
    let search = Options { deadlock: Deadlock::Off, time, threads: 1, ..Default::default() };
    let abstraction = tribunal_abstraction::Options { view, ..Default::default() };
    let options = refine::Options { abstraction, search, lemmas, ..Default::default() };
    match refine::verify(prepared, &options, &mut |_, _| (), &AtomicBool::new(false)) {
        Err(refine::Failure::Unsuitable(_)) => Answer::Refused,
        Err(refine::Failure::Unrunnable(why)) => Answer::Malformed(format!("{why:?}")),
        Ok(found) => match found.verdict {
            refine::Verdict::Holds(()) if found.left_out.is_empty() => Answer::Verified,
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
    match Asked::new(program).answer(&program.lemmas, way, Sabotage::Nothing) {
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
