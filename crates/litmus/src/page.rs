//! Answers about many tests as one page: a table of tests and models, and of this machine where tests
//! were run on it, with the states and an execution behind each cell. Tests on which the columns differ
//! come first.
//!
//! A cell is the JSON that the command prints for the answer, with at most [`MOST_STATES`] states.

use std::fmt::Write;

use page::{Kind, Page, html};
use serde::Serialize;
use serde_json::Value;

use crate::test::Litmus;

/// The most states of a cell; those that meet the condition come first.
pub const MOST_STATES: usize = 40;

/// Answers for a page.
#[derive(Default)]
pub struct LitmusPage {
    columns: Vec<String>,
    tests: Vec<TestData>,
}

#[derive(Serialize)]
struct TestData {
    file: String,
    name: String,
    condition: String,
    /// The test as it is written.
    program: String,
    /// Whether the answers of the columns differ.
    differs: bool,
    /// By column; nothing where there is no answer.
    cells: Vec<Option<Value>>,
}

#[derive(Serialize)]
struct Data<'a> {
    columns: &'a [String],
    tests: Vec<&'a TestData>,
    verdict: &'static str,
    tone: &'static str,
    title: &'a str,
    gist: &'a str,
    text: &'a str,
}

impl LitmusPage {
    /// Adds an answer, as JSON, about a test; tests and columns appear in the order in which they come.
    pub fn add(&mut self, file: &str, test: &Litmus, column: &str, answer: Value) {
        let named = |each: &String| each == column;
        let at = self.columns.iter().position(named).unwrap_or_else(|| {
            self.columns.push(column.to_owned());
            self.columns.len() - 1
        });
        let known = self.tests.iter().position(|each| each.file == file && each.name == test.name);
        let row = known.unwrap_or_else(|| {
            self.tests.push(TestData {
                file: file.to_owned(),
                name: test.name.clone(),
                condition: test.condition.spelled(test),
                program: test.to_text(),
                differs: false,
                cells: Vec::new(),
            });
            self.tests.len() - 1
        });
        let row = &mut self.tests[row];
        row.cells.resize(self.columns.len(), None);
        row.cells[at] = Some(answer);
    }

    /// The page.
    pub fn html(&mut self) -> String {
        for test in &mut self.tests {
            test.cells.resize(self.columns.len(), None);
            let mut said = test.cells.iter().flatten().filter_map(observation);
            let first = said.next();
            test.differs = said.any(|other| Some(other) != first);
        }
        let (mut front, same): (Vec<&TestData>, Vec<&TestData>) =
            self.tests.iter().partition(|test| is_broken(test) || test.differs);
        front.sort_by_key(|test| !is_broken(test));
        let differ = front.iter().filter(|test| test.differs).count();
        let tests: Vec<&TestData> = front.into_iter().chain(same).collect();
        let broken = tests.iter().filter(|test| is_broken(test)).count();
        let unanswered = tests
            .iter()
            .flat_map(|test| test.cells.iter().flatten())
            .any(|cell| cell.get("why").is_some());
        let (verdict, tone) = match (broken, unanswered) {
            (1.., _) => ("violation", "bad"),
            (0, true) => ("undecided", "open"),
            (0, false) => ("no violation", "good"),
        };
        let noun = |number: usize| if number == 1 { "test" } else { "tests" };
        let title = match tests.as_slice() {
            [test] => format!("{} under {}", test.name, self.columns.join(", ")),
            tests => format!("{} litmus tests under {}", tests.len(), self.columns.join(", ")),
        };
        let mut gist = match differ {
            0 if self.columns.len() > 1 => "The columns agree on every test.".to_owned(),
            0 => String::new(),
            differ => format!("The columns differ on {differ} {}, which come first.", noun(differ)),
        };
        if broken > 0 {
            let sentence =
                format!(" {broken} {} with a failed `forall` or `~exists`.", noun(broken));
            gist.push_str(&sentence);
        }
        let text = text(&self.columns, &tests);
        let gist = gist.trim();
        let columns = &self.columns;
        let data = Data { columns, tests, verdict, tone, title: &title, gist, text: &text };
        html(&Page { kind: Kind::Litmus, title: &title, text: &text, reload: None, data: &data })
    }
}

/// `Never`, `Sometimes` or `Always`; nothing where the answer is undecided.
fn observation(cell: &Value) -> Option<&str> {
    cell.get("observation")?.as_str()
}

/// Whether a `forall` or `~exists` fails under some model, or this machine has shown a forbidden
/// state.
fn is_broken(test: &TestData) -> bool {
    test.cells.iter().flatten().any(|cell| {
        let promised = cell["kind"] != "Allowed" && cell["verdict"] == "no";
        let compared = cell["compared"].as_array();
        promised || compared.is_some_and(|all| all.iter().any(|one| one["verdict"] == "violation"))
    })
}

/// The table as text.
fn text(columns: &[String], tests: &[&TestData]) -> String {
    let mut text = String::new();
    for test in tests {
        for (column, cell) in columns.iter().zip(&test.cells) {
            let Some(cell) = cell else { continue };
            let said = match (observation(cell), cell["why"].as_str()) {
                (Some(observation), _) => format!(
                    "{observation} ({} positive, {} negative)",
                    cell["positive"], cell["negative"]
                ),
                (None, Some(why)) => format!("undecided: {why}"),
                (None, None) => continue,
            };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}: {}: {column}: {said}", test.file, test.name);
        }
    }
    text
}
