//! What it costs to search with states on disk, in several processes, and with checkpoints, beside the
//! same search in memory.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::Value;

use crate::axis;
use crate::context::{Context, workspace};
use crate::generated::model::{Knobs, source};
use crate::report::Section;
use crate::table::{Table, dash, ratio, seconds};
use crate::verify::ask;

/// A model to search.
struct Chosen {
    title: String,
    file: PathBuf,
    constants: Vec<(&'static str, u64)>,
    /// A limit within which the states do not fit.
    little: &'static str,
}

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("beyond", "States on disk and in several processes");
    section.paragraph(
        "`tribunal explore --symmetry off` with one thread in each process. *CPU* is that of all \
         processes together, the operating system's share included; *clock* means little where other \
         work is done beside it. Bytes a state are those in memory, buffers included. The searches of a \
         model are made one after the other.",
    );
    for chosen in chosen(context)? {
        let mut table = Table::new([
            "search",
            "states",
            "CPU",
            "CPU, × memory",
            "clock",
            "clock, × memory",
            "bytes a state",
            "on disk",
        ]);
        let mut first: Option<(f64, f64, Value)> = None;
        for (title, flags) in ways(context, chosen.little) {
            let mut words: Vec<OsString> = flags.iter().map(OsString::from).collect();
            words.extend([OsString::from("--jobs"), "1".into(), chosen.file.clone().into()]);
            let command = ["explore", "--symmetry", "off", "--deadlock", "off"];
            let (usage, found) = ask(context, &chosen.constants, &command, words)?;
            context.progress(format!("beyond {}: {title}", chosen.title));
            let states = found["states"].clone();
            let (cpu, clock, all) =
                first.get_or_insert_with(|| (usage.cpu(), usage.wall, states.clone()));
            if found["verdict"] != "verified" || states != *all {
                return Err(io::Error::other(format!(
                    "{title}: {} after {states} states instead of {all}",
                    found["verdict"]
                )));
            }
            let bytes =
                |name: &str| found[name].as_f64().map_or_else(dash, |bytes| format!("{bytes:.1}"));
            table.row([
                title,
                axis::count(states.as_f64().unwrap_or_default()),
                seconds(Some(usage.cpu())),
                ratio(Some(usage.cpu()), Some(*cpu)),
                seconds(Some(usage.wall)),
                ratio(Some(usage.wall), Some(*clock)),
                bytes("bytes_per_state"),
                bytes("disk_bytes_per_state"),
            ]);
        }
        section.heading(&chosen.title);
        section.table(&table);
    }
    Ok(section)
}

/// How a model is searched.
fn ways(context: &Context, little: &str) -> Vec<(String, Vec<String>)> {
    let place = |name: &str| context.file(name).to_string_lossy().into_owned();
    let way = |title: &str, flags: &[&str]| {
        (title.to_owned(), flags.iter().map(|flag| (*flag).to_owned()).collect())
    };
    vec![
        way("in memory", &[]),
        way(&format!("on disk, {little}"), &["--disk", &place(""), "--memory", little]),
        way("a checkpoint each second", &["--checkpoint", &place("checkpoint")]),
        way("2 processes", &["--processes", "2"]),
        way("4 processes", &["--processes", "4"]),
        way("2 processes on disk", &["--processes", "2", "--disk", &place(""), "--memory", little]),
    ]
}

fn chosen(context: &Context) -> io::Result<Vec<Chosen>> {
    let file = context.file("generated-beyond.m");
    let seed = 6;
    let (caches, fields, slack) = (vec![3], 25, 10);
    let knobs = Knobs { seed, caches, values: 2, requests: 2, fields, slack, states: 12 };
    fs::write(&file, source(&knobs))?;
    let (n, little) = context.pick((6, "96MiB"), (5, "40MiB"));
    Ok(vec![
        Chosen {
            title: format!("peterson N={n}"),
            file: workspace().join("protocols/peterson.m"),
            constants: vec![("N", n)],
            little,
        },
        Chosen {
            title: format!("generated --seed {seed} --fields {fields} --slack {slack}"),
            file,
            constants: Vec::new(),
            little: "64MiB",
        },
    ])
}
