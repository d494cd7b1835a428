//! What a model file asks for, and which traces it decides.

use std::fmt::Write as _;

use cat::Axiom;
use judge::{ModelFile, Reach};
use serde::Serialize;

use crate::json;

/// The title, the conditions with their places, and which traces are decided, as text.
///
/// ```
/// use judge::ModelFile;
///
/// let model = cat::CatModel::from_text("sc.cat", "acyclic po | rf | co | fr as interleaving")?;
/// let text = tribunal_report::model_file_text(&ModelFile::new("sc.cat".to_owned(), model));
/// assert!(text.contains("interleaving  acyclic  sc.cat:1\n"), "{text}");
/// # Ok::<(), cat::CatError>(())
/// ```
pub fn model_file_text(file: &ModelFile) -> String {
    let mut text = format!("{}: {}\n\nConditions:\n\n", file.path, file.model.name());
    let rows: Vec<Row> = rows(file).collect();
    let width = |cell: fn(&Row) -> &str| {
        rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or_default()
    };
    let (names, tests) = (width(|row| &row.name), width(|row| &row.asks));
    for Row { name, asks, place } in &rows {
        let _ = writeln!(text, "  {name:<names$}  {asks:<tests$}  {place}");
    }
    let most = Reach::MOST_EVENTS;
    let reach = match file.reach() {
        Reach::AnyLength => "Traces: of any length.".to_owned(),
        Reach::AnyLengthUnlessRewritten => format!(
            "Traces: of any length, up to {most} events if an atomic writes the value that it reads\n\
             (`acyclic po-loc | amo | rf | co | fr` removes this limit)."
        ),
        Reach::AnyLengthWithoutAtomics => format!(
            "Traces: of any length, up to {most} events if there are atomics: no condition says that\n\
             their read comes before their write (`acyclic po-loc | amo | rf | co | fr`)."
        ),
        Reach::Short(axiom) => {
            let name = rows.get(axiom).map_or("", |row| &row.name);
            format!(
                "Traces: of up to {most} events, by search. For longer ones, `{name}` needs a form \
                 that\ndocs/cat.md describes (\"How it is decided\")."
            )
        }
    };
    let _ = write!(text, "\n{reach}\nLitmus tests: all.\n");
    text
}

/// The same as a line of JSON.
pub fn model_file_json(file: &ModelFile) -> String {
    #[derive(Serialize)]
    struct Object<'a> {
        name: &'a str,
        title: &'a str,
        conditions: Vec<Row>,
        /// No limit is null.
        most_events: Option<usize>,
        most_events_with_atomics: Option<usize>,
        limited_by: Option<String>,
    }
    let short = Some(Reach::MOST_EVENTS);
    let (most_events, most_events_with_atomics, axiom) = match file.reach() {
        Reach::AnyLength => (None, None, None),
        Reach::AnyLengthUnlessRewritten | Reach::AnyLengthWithoutAtomics => (None, short, None),
        Reach::Short(axiom) => (short, short, Some(axiom)),
    };
    let conditions: Vec<Row> = rows(file).collect();
    let object = Object {
        name: &file.path,
        title: file.model.name(),
        limited_by: axiom.and_then(|axiom| Some(conditions.get(axiom)?.name.clone())),
        conditions,
        most_events,
        most_events_with_atomics,
    };
    json::line(&object) + "\n"
}

/// A condition.
#[derive(Serialize)]
struct Row {
    name: String,
    asks: String,
    place: String,
}

fn rows(file: &ModelFile) -> impl Iterator<Item = Row> {
    file.model.axioms().map(|Axiom { name, test, negated, place }| {
        let asks = if negated { format!("not {}", test.word()) } else { test.word().to_owned() };
        Row { name: name.to_owned(), asks, place: file.model.line_of(place) }
    })
}
