//! Models in the style of generated directories, beside other model checkers: large states, of which
//! a rule changes little.
//!
//! The models are random ([`model`]), but always the same: seeds are fixed. Each has about a million
//! states without symmetry, of 0.5 to 2 kilobytes. What is compared is as in `explore`.

pub(crate) mod model;

use std::fs;
use std::io;

use crate::context::Context;
use crate::explore::sizes::Size;
use crate::explore::{add_table, checkers, sweep};
use crate::report::Section;

use model::{Knobs, source};

/// A model of the table.
struct Chosen {
    title: &'static str,
    knobs: Knobs,
}

/// Measures all of them.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("generated", "Models in the style of generated directories");
    let checkers = checkers::present(context);
    section.paragraph(
        "Random models with large states (`tribunal-bench model`), of which a rule changes little. \
         Columns as for Murphi models above; one thread; deadlocks are not looked for. The flags of \
         `tribunal-bench model` are in the first column. Rumur refuses these models: it has no \
         unions.",
    );
    let mut sizes = Vec::new();
    for (number, chosen) in chosen(context).iter().enumerate() {
        let file = context.file(&format!("generated{number}.m"));
        fs::write(&file, source(&chosen.knobs))?;
        let (model, constants) = (chosen.title.to_owned(), Vec::new());
        sizes.push(Size { model, file, constants, states: 0 });
    }
    for symmetry in [false, true] {
        let rows = sweep(context, &checkers, &sizes, (symmetry, 1, false))?;
        let heading = if symmetry { "With symmetry" } else { "Without symmetry" };
        add_table(&mut section, heading, &rows, None);
    }
    Ok(section)
}

fn chosen(context: &Context) -> Vec<Chosen> {
    let knobs = |seed, caches: &[usize], fields, slack| Knobs {
        seed,
        caches: caches.to_vec(),
        values: 2,
        requests: 2,
        fields,
        slack,
        states: 12,
    };
    let large =
        [Chosen { title: "--seed 6 --slack 10 --fields 25", knobs: knobs(6, &[3], 25, 10) }];
    let quick = [Chosen { title: "--caches 2", knobs: knobs(1, &[2], 20, 4) }];
    context.pick(Vec::from(large), Vec::from(quick))
}
