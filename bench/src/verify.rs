//! `tribunal verify` on the protocols of this project: what an observer costs.
//!
//! Each protocol is verified at some sizes. For `sc` the lemmas have three values that are
//! distinguished, so the protocol is explored with three such values to compare with; lemma k then has at
//! most 2^k · 3^k times as many states, for each way to give out the parts of a cycle. For `tso`
//! the protocol is compared as it is.

use std::ffi::OsString;
use std::fs;
use std::io;

use serde_json::Value;

use crate::axis;
use crate::child::Usage;
use crate::context::{Context, workspace};
use crate::report::Section;
use crate::table::{Table, dash, ratio, seconds};

/// A protocol at a size.
struct Size {
    protocol: &'static str,
    model: &'static str,
    constants: &'static [(&'static str, u64)],
    /// Whether a quick run measures it.
    quick: bool,
}

const fn size(
    protocol: &'static str,
    model: &'static str,
    constants: &'static [(&'static str, u64)],
    quick: bool,
) -> Size {
    Size { protocol, model, constants, quick }
}

const THREE: &[(&str, u64)] = &[("ProcessorCount", 3), ("AddressCount", 1)];
const SQUARE: &[(&str, u64)] = &[("ProcessorCount", 2), ("AddressCount", 2)];
const WIDE: &[(&str, u64)] = &[("ProcessorCount", 3), ("AddressCount", 2)];
const WIDE_QUIET: &[(&str, u64)] =
    &[("ProcessorCount", 3), ("AddressCount", 2), ("BackgroundEvictions", 0)];

const SIZES: &[Size] = &[
    size("piranha", "sc", SQUARE, true),
    size("piranha", "sc", WIDE, false),
    size("mi", "sc", THREE, true),
    size("mi", "sc", SQUARE, true),
    size("mi", "sc", WIDE, false),
    size("msi", "sc", THREE, true),
    size("msi", "sc", SQUARE, false),
    size("mesi", "sc", THREE, true),
    size("mesi", "sc", SQUARE, false),
    size("moesi", "sc", THREE, true),
    size("moesi", "sc", SQUARE, false),
    size("lazy-caching", "sc", SQUARE, false),
    size("msi-store-buffer", "sc", SQUARE, true),
    size("msi-store-buffer", "tso", SQUARE, true),
    size("msi", "tso", SQUARE, false),
    size("tso-cc", "tso", THREE, true),
    size("tso-cc", "tso", SQUARE, false),
    size("tso-cc", "tso", WIDE_QUIET, false),
    size("broken/tso-cc-no-self-invalidation", "tso", SQUARE, true),
    size("broken/piranha-owner-not-cleared", "sc", SQUARE, true),
];

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("verify", "Protocols and their memory models");
    section.paragraph(
        "*Plain* are the states of the protocol, for sc with three values that are told apart; \
         *lemma* those of its largest composition with an observer. Processors and addresses are \
         symmetric in both. CPU seconds and memory are those of all lemmas together.",
    );
    let mut table = Table::new([
        "protocol", "size", "model", "verdict", "plain", "lemma", "factor", "CPU", "memory",
    ]);
    let sizes = SIZES.iter().filter(|size| size.quick || !context.settings.quick);
    for size in sizes {
        let plain = plain_states(context, size)?;
        let (usage, verified) = verify(context, size)?;
        let verdict = verified["verdict"].as_str().unwrap_or("no answer").to_owned();
        let lemma = largest_lemma(&verified).filter(|_| verdict == "verified");
        context.progress(format!("verify {} {}: {verdict}", size.protocol, shown(size)));
        table.row([
            size.protocol.to_owned(),
            shown(size),
            size.model.to_owned(),
            verdict,
            states(plain),
            states(lemma),
            ratio(lemma.map(|n| n as f64), plain.map(|n| n as f64)),
            seconds(Some(usage.cpu())),
            axis::bytes(usage.peak as f64),
        ]);
    }
    section.table(&table);
    Ok(section)
}

/// `2×2`, and what is not the default.
fn shown(size: &Size) -> String {
    let of = |name: &str| size.constants.iter().find(|(other, _)| *other == name);
    let number = |name: &str| of(name).map_or_else(dash, |(_, value)| value.to_string());
    let mut text = format!("{}×{}", number("ProcessorCount"), number("AddressCount"));
    if of("BackgroundEvictions").is_some() {
        text += ", evictions in turn";
    }
    text
}

fn states(states: Option<u64>) -> String {
    states.map_or_else(dash, |states| axis::count(states as f64))
}

/// The states of the protocol itself, if all were visited.
fn plain_states(context: &Context, size: &Size) -> io::Result<Option<u64>> {
    let file = workspace().join(format!("protocols/{}.m", size.protocol));
    let mut text = fs::read_to_string(file)?;
    let mut more = Vec::new();
    if size.model == "sc" {
        text = text.replace("scalarset(ValueCount)", "0..ValueCount-1");
        more = ["--const", "ValueCount=3"].map(OsString::from).to_vec();
    }
    let copy = context.file("protocol.m");
    fs::write(&copy, text)?;
    more.push(copy.into());
    let (_, explored) = ask(context, size.constants, &["explore", "--symmetry", "full"], more)?;
    let is_complete = explored["verdict"] == "verified";
    Ok(explored["states"].as_u64().filter(|_| is_complete))
}

fn verify(context: &Context, size: &Size) -> io::Result<(Usage, Value)> {
    let file = workspace().join(format!("protocols/{}.m", size.protocol));
    ask(context, size.constants, &["verify", "--model", size.model], vec![file.into()])
}

/// Runs `tribunal` and reads the object that it prints.
pub(crate) fn ask(
    context: &Context,
    constants: &[(&str, u64)],
    command: &[&str],
    rest: Vec<OsString>,
) -> io::Result<(Usage, Value)> {
    let mut words: Vec<OsString> = vec![context.tribunal.clone().into()];
    words.extend(command.iter().map(OsString::from));
    words.extend(["--json", "--quiet"].map(OsString::from));
    for (name, value) in constants {
        words.extend(["--const".into(), format!("{name}={value}").into()]);
    }
    words.extend(rest);
    let usage = context.measure(words)?;
    let output = fs::read_to_string(context.output())?;
    Ok((usage, serde_json::from_str(output.trim()).unwrap_or_default()))
}

/// The states of the largest lemma with an observer: the last one is the protocol itself.
fn largest_lemma(verified: &Value) -> Option<u64> {
    let lemmas = verified["lemmas"].as_array()?;
    let observed = lemmas.iter().take(lemmas.len().saturating_sub(1));
    observed.filter_map(|lemma| lemma["states"].as_u64()).max()
}
