//! The table of models and their lattice, generated from `models`.

use std::fmt::Write as _;

use models::{IMPLICATIONS, Keeps, Model, Rules, implies};
use serde::Serialize;

use crate::json;

/// The models, what each keeps of program order, and which implies which, as text.
pub fn models_table() -> String {
    let mut text = String::new();
    names(&mut text);
    text.push('\n');
    store_models(&mut text);
    text.push('\n');
    causal_models(&mut text);
    text.push('\n');
    lattice(&mut text);
    text.push('\n');
    file_models(&mut text);
    text
}

/// The models that come as files and are no built-in ones, with their titles.
fn shipped() -> impl Iterator<Item = (&'static str, cat::CatModel)> {
    let others = cat::shipped_models().filter(|name| name.parse::<Model>().is_err());
    others.filter_map(|name| Some((name, cat::CatModel::shipped(name)?)))
}

fn file_models(text: &mut String) {
    text.push_str(
        "Models that come as cat files (`tribunal models NAME` prints the file; docs/cat.md \
         explains it):\n\n",
    );
    let width = shipped().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, model) in shipped() {
        let _ = writeln!(text, "  {name:<width$}  {}", model.name());
    }
}

fn names(text: &mut String) {
    let width = Model::ALL.iter().map(|m| m.name().len()).max().unwrap_or_default();
    for model in Model::ALL {
        let _ = writeln!(text, "{:<width$}  {}", model.name(), model.title());
        let _ = writeln!(text, "{:<width$}  {}", "", model.summary());
    }
}

fn store_models(text: &mut String) {
    let mut rows = vec![["", "R→R", "R→W", "W→R", "W→W", "also kept"].map(str::to_owned)];
    for model in Model::ALL {
        let Some(rules) = model.store_rules() else { continue };
        let keeps = |keeps| if rules.global { keeps_word(keeps) } else { "address" };
        let also = match (rules.times, rules.dependencies) {
            (true, _) => "a read before operations that start after it completes",
            (_, true) => "declared dependencies",
            _ => "-",
        };
        let kept = [rules.read_read, rules.read_write, rules.write_read, rules.write_write];
        let [rr, rw, wr, ww] = kept.map(|k| keeps(k).to_owned());
        rows.push([model.name().to_owned(), rr, rw, wr, ww, also.to_owned()]);
    }
    text.push_str("Store models: all threads agree on one order of the writes to each address.\n");
    text.push_str(
        "The table says which pairs of operations of one thread stay in program order:\n",
    );
    text.push_str(
        "`always`, only on the same `address`, or never (-). R is a read, W a write; an\natomic \
         is both.\n\n",
    );
    columns(text, &rows);
}

fn keeps_word(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::Always => "always",
        Keeps::SameAddress => "address",
        Keeps::Never => "-",
    }
}

fn causal_models(text: &mut String) {
    let heads = ["", "convergent", "memory", "store order", "relaxed"];
    let mut rows = vec![heads.map(str::to_owned)];
    for model in Model::ALL {
        let Some(rules) = model.causal_rules() else { continue };
        let asks = [rules.convergent, rules.memory, rules.store_order, rules.relaxed];
        let [convergent, memory, order, relaxed] =
            asks.map(|asks| if asks { "yes" } else { "-" }.to_owned());
        rows.push([model.name().to_owned(), convergent, memory, order, relaxed]);
    }
    text.push_str(
        "Causal models: no thread reads a value that its causal past has overwritten.\nThe \
         columns say what a model asks for beyond that:\n",
    );
    text.push_str("  convergent   all threads agree on the order of conflicting writes\n");
    text.push_str(
        "  memory       each thread can order its causal past consistently with its reads\n",
    );
    text.push_str("  store order  the write order that follows from these has no cycle\n");
    text.push_str("  relaxed      program order is replaced by what tso keeps of it\n\n");
    columns(text, &rows);
}

/// Rows in columns as wide as their widest cell; the last column runs free.
fn columns<const N: usize>(text: &mut String, rows: &[[String; N]]) {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    for row in rows {
        text.push_str("  ");
        for (column, cell) in row.iter().enumerate() {
            if column + 1 == N {
                text.push_str(cell);
            } else {
                let _ = write!(text, "{cell:<width$}  ", width = width(column));
            }
        }
        text.push('\n');
    }
}

fn lattice(text: &mut String) {
    text.push_str(
        "Implications (a history that satisfies the left model satisfies the right one):\n\n",
    );
    let width = Model::ALL.iter().map(|m| m.name().len()).max().unwrap_or_default();
    for model in models::strongest_first() {
        let covers: Vec<&str> = weaker(model).map(Model::name).collect();
        if !covers.is_empty() {
            let _ = writeln!(text, "  {:<width$}  ⇒  {}", model.name(), covers.join(", "));
        }
    }
    for model in models::strongest_first() {
        if Model::ALL.into_iter().all(|other| implies(model, other)) {
            let _ = writeln!(text, "\n{model} implies every other model.");
        }
    }
}

/// The models directly below one in the lattice.
fn weaker(model: Model) -> impl Iterator<Item = Model> {
    IMPLICATIONS.iter().filter(move |i| i.stronger == model).map(|i| i.weaker)
}

/// The table as one JSON object per line.
pub fn models_json() -> String {
    let built_in = Model::ALL.into_iter().map(|model| json::line(&row(model)) + "\n");
    let files = shipped().map(|(name, model)| {
        let axioms = model.axioms().map(|axiom| axiom.name).collect();
        let row = FileRow { model: name, title: model.name(), family: "file", axioms };
        json::line(&row) + "\n"
    });
    built_in.chain(files).collect()
}

/// A model that comes as a file.
#[derive(Serialize)]
struct FileRow<'a> {
    model: &'a str,
    title: &'a str,
    family: &'static str,
    axioms: Vec<&'a str>,
}

/// A model, its fields in the order in which they are printed.
#[derive(Serialize)]
struct Row {
    model: &'static str,
    title: &'static str,
    summary: &'static str,
    #[serde(flatten)]
    rules: RuleFields,
    implies: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "family", rename_all = "lowercase")]
enum RuleFields {
    Store {
        read_read: &'static str,
        read_write: &'static str,
        write_read: &'static str,
        write_write: &'static str,
        times: bool,
        dependencies: bool,
        own_reads_visible: bool,
        same_address_reads_swap: bool,
        global: bool,
    },
    Causal {
        convergent: bool,
        memory: bool,
        store_order: bool,
        relaxed: bool,
    },
}

fn row(model: Model) -> Row {
    let rules = match model.rules() {
        Rules::Store(rules) => RuleFields::Store {
            read_read: keeps_json(rules.read_read),
            read_write: keeps_json(rules.read_write),
            write_read: keeps_json(rules.write_read),
            write_write: keeps_json(rules.write_write),
            times: rules.times,
            dependencies: rules.dependencies,
            own_reads_visible: rules.own_reads_visible,
            same_address_reads_swap: rules.same_address_reads_swap,
            global: rules.global,
        },
        Rules::Causal(rules) => RuleFields::Causal {
            convergent: rules.convergent,
            memory: rules.memory,
            store_order: rules.store_order,
            relaxed: rules.relaxed,
        },
    };
    Row {
        model: model.name(),
        title: model.title(),
        summary: model.summary(),
        rules,
        implies: weaker(model).map(Model::name).collect(),
    }
}

fn keeps_json(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::Always => "always",
        Keeps::SameAddress => "same-address",
        Keeps::Never => "never",
    }
}
