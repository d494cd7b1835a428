//! The table of models and their lattice, generated from `models`.

use std::fmt::Write as _;

use models::{IMPLICATIONS, Keeps, Model, Rules, implies};

use crate::verdict::{Object, quoted};

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
    text
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
            (true, _) => "a read before what began after it ended",
            (_, true) => "declared dependencies",
            _ => "-",
        };
        let kept = [rules.read_read, rules.read_write, rules.write_read, rules.write_write];
        let [rr, rw, wr, ww] = kept.map(|k| keeps(k).to_owned());
        rows.push([model.name().to_owned(), rr, rw, wr, ww, also.to_owned()]);
    }
    text.push_str("Store models: one order of the writes of each address explains all reads.\n");
    text.push_str("Which pairs of one thread every thread sees in program order: always, on one\n");
    text.push_str("address only, or never (-). R is a read, W a write, an atomic is both.\n\n");
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
    text.push_str("Causal models: no thread reads what its causal past has overwritten. And:\n");
    text.push_str("convergent: all threads agree on the order of conflicting writes;\n");
    text.push_str("memory: each thread sees all it has heard of in one order;\n");
    text.push_str("store order: the write order that all these force has no cycle;\n");
    text.push_str("relaxed: over what tso keeps of program order.\n\n");
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
    text.push_str("Which implies which (every history of the left is one of the right):\n\n");
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

/// The same as one JSON object per line.
pub fn models_json() -> String {
    Model::ALL.into_iter().map(|model| model_json(model) + "\n").collect()
}

fn model_json(model: Model) -> String {
    let mut json = Object::new();
    json.text("model", model.name());
    json.text("title", model.title());
    json.text("summary", model.summary());
    match model.rules() {
        Rules::Store(rules) => {
            json.text("family", "store");
            json.text("read_read", keeps_json(rules.read_read));
            json.text("read_write", keeps_json(rules.read_write));
            json.text("write_read", keeps_json(rules.write_read));
            json.text("write_write", keeps_json(rules.write_write));
            json.raw("times", rules.times);
            json.raw("dependencies", rules.dependencies);
            json.raw("own_reads_visible", rules.own_reads_visible);
            json.raw("same_address_reads_swap", rules.same_address_reads_swap);
            json.raw("global", rules.global);
        }
        Rules::Causal(rules) => {
            json.text("family", "causal");
            json.raw("convergent", rules.convergent);
            json.raw("memory", rules.memory);
            json.raw("store_order", rules.store_order);
            json.raw("relaxed", rules.relaxed);
        }
    }
    let implied: Vec<String> = weaker(model).map(|m| quoted(m.name())).collect();
    json.raw("implies", format_args!("[{}]", implied.join(",")));
    json.finish()
}

fn keeps_json(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::Always => "always",
        Keeps::SameAddress => "same-address",
        Keeps::Never => "never",
    }
}
