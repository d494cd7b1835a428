//! The judged outcomes of a program that was run many times: each distinct outcome once, with its
//! count, as a table or as JSON.

use std::fmt::Write as _;

use evidence::Verdict;
use history::{Format, History, Value};
use judge::{AnyModel, Budget, Engine};
use report::count;
use serde::Serialize;
use stress::{Experiment, Outcome, OutcomeError, TargetName, Test};

/// The most reads and places of an outcome that is shown in a line.
const SHORT: usize = 8;

/// An experiment, judged.
#[derive(Debug)]
pub struct Judged<'a> {
    test: &'a Test,
    target: &'a TargetName,
    model: &'a AnyModel,
    experiment: &'a Experiment,
    rows: Vec<Row<'a>>,
}

/// An outcome, judged.
#[derive(Debug)]
struct Row<'a> {
    outcome: Option<&'a Outcome>,
    count: u64,
    violates: bool,
    /// Whether it could not be judged.
    undecided: bool,
    /// Whether it is the outcome that the test asks about.
    exists: Option<bool>,
    history: History,
}

impl<'a> Judged<'a> {
    /// Judges all different outcomes of a test on a target.
    pub fn new(
        test: &'a Test,
        target: &'a TargetName,
        model: &'a AnyModel,
        experiment: &'a Experiment,
    ) -> Result<Self, OutcomeError> {
        let row = |(history, count, outcome): (History, u64, Option<&'a Outcome>)| {
            let refuted = model.refute(&history, Engine::Auto, &Budget::unlimited());
            let violates = matches!(refuted, Verdict::Broken(_));
            let undecided = matches!(refuted, Verdict::Undecided(_));
            let asked = test.condition.as_ref().zip(outcome);
            let exists = asked.and_then(|(asked, outcome)| asked.holds(&test.program, outcome));
            Row { outcome, count, violates, undecided, exists, history }
        };
        let rows = experiment.histories(&test.program)?.into_iter().map(row).collect();
        Ok(Judged { test, target, model, experiment, rows })
    }

    fn violating(&self) -> usize {
        self.rows.iter().filter(|row| row.violates).count()
    }

    fn undecided(&self) -> usize {
        self.rows.iter().filter(|row| row.undecided).count()
    }

    /// Broken if an outcome violates the model; undecided if one could not be judged, or no run came
    /// to an end.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        match () {
            () if self.violating() > 0 => Verdict::Broken(()),
            () if self.experiment.is_empty() || self.undecided() > 0 => Verdict::Undecided(()),
            () => Verdict::Holds(()),
        }
    }

    /// The table for people; only its first line if `quiet`. `failed` says whether the target failed,
    /// so that there were no further runs.
    pub fn table(&self, failed: bool, quiet: bool) -> String {
        let (experiment, model) = (self.experiment, self.model);
        let name = match self.test.program.name.as_str() {
            "" => "program",
            name => name,
        };
        let verdict = match (self.violating(), self.verdict()) {
            (0, _) if failed => format!("the target failed; no violation of {model} before that"),
            (0, _) if self.undecided() > 0 => {
                format!("{} undecided, no violation of {model}", self.undecided())
            }
            (0, Verdict::Undecided(())) => "undecided: no run finished".to_owned(),
            (0, _) => format!("all satisfy {model}"),
            (1, _) => format!("1 violates {model}"),
            (number, _) => format!("{number} violate {model}"),
        };
        let mut text = format!(
            "{name}: {}{}, {}, {verdict}\n",
            count(experiment.runs, "run"),
            unfinished(experiment),
            count(experiment.different() as u64, "distinct outcome"),
        );
        if quiet {
            return text;
        }
        for row in self.rows.iter().filter(|row| row.fits_a_line(self.test)) {
            let mark = match (row.violates, row.exists) {
                (true, _) => format!("  violates {model}"),
                (false, Some(true)) => "  target outcome".to_owned(),
                (false, _) => String::new(),
            };
            let _ = writeln!(text, "{:>9}  {}{mark}", row.count, row.describe(self.test));
        }
        if let Some(row) = self.rows.iter().find(|row| row.violates && !row.fits_a_line(self.test))
        {
            text += "# the first outcome that violates it\n";
            text += &Format::Text.text(&row.history);
        }
        text
    }

    /// The outcomes as a JSON object in one line, without the newline.
    pub fn json(&self) -> String {
        crate::json_line(&Object {
            memory_model: self.model.name(),
            model: self.model.name(),
            outcomes: self.rows.iter().map(Row::object).collect(),
            program: &self.test.program.name,
            runs: self.experiment.runs,
            target: self.target.to_string(),
            unfinished: self.experiment.unfinished,
            verdict: self.verdict().of_trace(),
        })
    }
}

/// `, 2 did not finish`
pub fn unfinished(experiment: &Experiment) -> String {
    match experiment.unfinished {
        0 => String::new(),
        number => format!(", {number} did not finish"),
    }
}

/// The fields of the report, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    memory_model: &'a str,
    model: &'a str,
    outcomes: Vec<RowObject<'a>>,
    program: &'a str,
    runs: u64,
    target: String,
    unfinished: u64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct RowObject<'a> {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finals: Option<&'a Option<Vec<Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<&'a [Value]>,
    verdict: &'static str,
}

impl<'a> Row<'a> {
    /// Whether it is short enough to be shown in a line.
    fn fits_a_line(&self, test: &Test) -> bool {
        self.outcome.is_some_and(|outcome| outcome.reads.len() <= SHORT)
            && test.program.places.len() <= SHORT
    }

    /// `0: M[y] == 0, 1: M[x] == 0; M[x] == 1, M[y] == 1`
    fn describe(&self, test: &Test) -> String {
        let Some(outcome) = self.outcome else { return String::new() };
        let label = |place: usize| &test.program.places[place].label;
        let reads =
            test.program.readers().zip(&outcome.reads).map(|((thread, _, action), value)| {
                let place = action.place().unwrap_or_default() as usize;
                format!("{thread}: M[{}] == {value}", label(place))
            });
        let finals = outcome.finals.iter().flatten().enumerate();
        let finals = finals.map(|(place, value)| format!("M[{}] == {value}", label(place)));
        let (reads, finals): (Vec<String>, Vec<String>) = (reads.collect(), finals.collect());
        match finals.is_empty() {
            true => reads.join(", "),
            false => format!("{}; at the end {}", reads.join(", "), finals.join(", ")),
        }
    }

    fn object(&self) -> RowObject<'a> {
        RowObject {
            count: self.count,
            exists: self.exists,
            finals: self.outcome.map(|outcome| &outcome.finals),
            reads: self.outcome.map(|outcome| &*outcome.reads),
            verdict: match (self.violates, self.undecided) {
                (true, _) => "violation",
                (false, true) => "undecided",
                (false, false) => "consistent",
            },
        }
    }
}
