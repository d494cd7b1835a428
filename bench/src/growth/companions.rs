//! What belongs to a check: reading the file, traces that violate or poll, and certifying.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use models::Model;

use super::{
    ADDRESSES, AXE_MODELS, Files, Job, MODELS, SizeLimits, THREADS, announce, axe, in_turns,
    operations, time, time_or_reason,
};
use crate::axis::{Unit, count};
use crate::child::{End, Usage};
use crate::context::Context;
use crate::report::Section;
use crate::table::{Table, dash, ratio, seconds};
use crate::traces::{polling, trace_file};

/// All of it.
pub(super) fn report(
    context: &Context,
    section: &mut Section,
    patience: &SizeLimits,
) -> io::Result<()> {
    violations(context, section, patience)?;
    polling_traces(context, section, patience)?;
    certificates(context, section, patience)?;
    reading(context, section)
}

/// The usual size of this file's tables.
fn size(context: &Context) -> usize {
    context.pick(1 << 20, 32 << 10)
}

fn violations(context: &Context, section: &mut Section, patience: &SizeLimits) -> io::Result<()> {
    section.heading("Violating traces");
    section.paragraph(
        "One read late in the trace is wrong: it returns what its thread saw last at the address \
         though others have overwritten it since (pso, wmo, rmo and coherence: what an atomic of its \
         own thread replaced). Next to the valid trace of the same size. *sc, store buffers* judges \
         a trace of the machine with store buffers by sc.",
    );
    let mut table =
        Table::new(["model", "operations", "valid", "violating", "violating / valid", "verdict"]);
    let largest = size(context);
    for events in [largest / 16, largest / 4, largest] {
        announce(context, "violating traces", &operations(events));
        let mut files = Files::new(context, events, THREADS, ADDRESSES);
        let mut names = Vec::new();
        let mut jobs = Vec::new();
        for model in MODELS {
            names.push(model.name());
            let valid = Job { model, file: files.valid(model)? };
            jobs.push(patience.allows(model, events).then_some(valid));
            jobs.push(Some(Job { model, file: files.violating(model)? }));
        }
        names.push("sc, store buffers");
        let sc = |file| Some(Job { model: Model::Sc, file });
        jobs.push(sc(files.valid(Model::Sc)?).filter(|_| patience.allows(Model::Sc, events)));
        jobs.push(sc(files.valid(Model::Tso)?));
        let checked = in_turns(context, &jobs, context.pick(2, 1))?;
        for (pair, name) in checked.chunks_exact(2).zip(names) {
            table.row([
                name.to_owned(),
                count(events as f64),
                time_or_reason(&pair[0]),
                time_or_reason(&pair[1]),
                ratio(time(&pair[1]), time(&pair[0])),
                pair[1].as_ref().map_or_else(dash, |checked| checked.said.verdict.clone()),
            ]);
        }
    }
    section.table(&table);
    Ok(())
}

fn polling_traces(
    context: &Context,
    section: &mut Section,
    patience: &SizeLimits,
) -> io::Result<()> {
    section.heading("Polling");
    let events = size(context);
    section.paragraph(format!(
        "Seven threads spin on a flag that an eighth raises ten times while it works on 256 \
         addresses, {}; next to a random trace of the same size, threads and addresses.",
        operations(events)
    ));
    announce(context, "polling", &operations(events));
    let file = context.file("polling.trace");
    trace_file(&file, polling(events))?;
    let mut files = Files::new(context, events, 8, ADDRESSES);
    let mut jobs = Vec::new();
    for model in MODELS {
        let random = Job { model, file: files.valid(model)? };
        jobs.push(patience.allows(model, events).then_some(random));
        jobs.push(Some(Job { model, file: file.clone() }));
    }
    let checked = in_turns(context, &jobs, context.pick(2, 1))?;
    let with_axe = context.axe.is_some();
    let head = ["model", "random", "polling", "polling / random", "decided by"];
    let mut table = Table::new(head.into_iter().chain(with_axe.then_some("axe, polling")));
    for (pair, model) in checked.chunks_exact(2).zip(MODELS) {
        let theirs = if AXE_MODELS.contains(&model) { axe(context, model, &file)? } else { None };
        let show = |usage: Usage| usage.failure().unwrap_or_else(|| seconds(Some(usage.cpu())));
        let cells = [
            model.name().to_owned(),
            time_or_reason(&pair[0]),
            time_or_reason(&pair[1]),
            ratio(time(&pair[1]), time(&pair[0])),
            pair[1].as_ref().map_or_else(dash, |checked| checked.said.decided_by.clone()),
        ];
        let theirs = with_axe.then(|| theirs.map_or_else(dash, show));
        table.row(cells.into_iter().chain(theirs));
    }
    section.table(&table);
    fs::remove_file(file)
}

/// `tribunal certify` of the evidence, next to the check that wrote it.
fn certificates(context: &Context, section: &mut Section, patience: &SizeLimits) -> io::Result<()> {
    section.heading("Certifying");
    let events = size(context);
    section.paragraph(format!(
        "`tribunal check`, the same with `--certificate`, and `tribunal certify` of the \
         certificate; {}.",
        operations(events)
    ));
    let mut table = Table::new([
        "model",
        "trace",
        "check",
        "check and write",
        "certify",
        "certify / check",
        "memory of certify",
        "certificate",
        "holds",
    ]);
    let mut files = Files::new(context, events, THREADS, ADDRESSES);
    let certificate = context.file("certificate");
    for model in MODELS {
        for violating in [false, true] {
            if !violating && !patience.allows(model, events) {
                continue;
            }
            let trace = if violating { files.violating(model)? } else { files.valid(model)? };
            let kind = if violating { "violating" } else { "valid" };
            announce(context, &format!("certify {model}, {kind}"), &operations(events));
            let path = certificate.to_string_lossy().into_owned();
            let check = Some(context.check(model, &trace)?);
            let writing = Some(context.check_with(model, &trace, &["--certificate", &path])?);
            let certify = certify(context, &trace, &certificate)?;
            let holds = if certify.end == End::Exit(0) { "yes" } else { "NO" };
            let bytes = fs::metadata(&certificate).map_or(0, |file| file.len());
            table.row([
                model.name().to_owned(),
                kind.to_owned(),
                time_or_reason(&check),
                time_or_reason(&writing),
                certify.failure().unwrap_or_else(|| seconds(Some(certify.cpu()))),
                ratio(certify.answered().then(|| certify.cpu()), time(&check)),
                Unit::Bytes.show(certify.peak as f64),
                Unit::Bytes.show(bytes as f64),
                certify.failure().map_or_else(|| holds.to_owned(), |_| dash()),
            ]);
            // The next certificate must be its own.
            let _ = fs::remove_file(&certificate);
        }
    }
    section.table(&table);
    Ok(())
}

fn certify(context: &Context, trace: &Path, certificate: &Path) -> io::Result<Usage> {
    let words: Vec<OsString> = vec![
        context.tribunal.clone().into(),
        "certify".into(),
        "--quiet".into(),
        trace.into(),
        certificate.into(),
    ];
    context.measure(words)
}

/// Reading and indexing a trace, next to counting its lines.
fn reading(context: &Context, section: &mut Section) -> io::Result<()> {
    section.heading("Reading");
    section.paragraph(
        "Parsing and indexing a trace (a process that does only that), next to `wc -l` of the same \
         file and to the whole check.",
    );
    let mut table = Table::new([
        "operations",
        "file",
        "wc -l",
        "read",
        "ns an operation",
        "read / wc",
        "memory",
        "check sc",
        "read / check",
    ]);
    let own: OsString = std::env::current_exe()?.into();
    for events in [size(context) / 16, size(context)] {
        announce(context, "reading", &operations(events));
        let mut files = Files::new(context, events, THREADS, ADDRESSES);
        let file = files.valid(Model::Sc)?;
        let (mut counts, mut reads) = (Vec::new(), Vec::new());
        for _ in 0..context.pick(3, 1) {
            counts.push(context.measure(vec!["wc".into(), "-l".into(), file.clone().into()])?);
            reads.push(context.measure(vec![own.clone(), "read".into(), file.clone().into()])?);
        }
        let checked = Some(context.check(Model::Sc, &file)?);
        let (Some(wc), Some(read)) = (Usage::middle(&counts), Usage::middle(&reads)) else {
            continue;
        };
        table.row([
            count(events as f64),
            Unit::Bytes.show(fs::metadata(&file)?.len() as f64),
            seconds(Some(wc.cpu())),
            read.failure().unwrap_or_else(|| seconds(Some(read.cpu()))),
            format!("{:.0}", read.cpu() * 1e9 / events as f64),
            ratio(Some(read.cpu()), Some(wc.cpu())),
            Unit::Bytes.show(read.peak as f64),
            seconds(time(&checked)),
            ratio(Some(read.cpu()), time(&checked)),
        ]);
    }
    section.table(&table);
    Ok(())
}
