//! The campaign as a page, `index.html` in its folder: how far it is, what was found, with pictures
//! and the commands to go on, and what was exercised. While the hunt runs the page loads itself again.

use std::num::NonZeroU32;

use explore::Timeline;
use page::{Kind, Page, html};
use serde::Serialize;
use serde_json::Value;

use crate::campaign_log::ProgressSample;
use crate::folder::{Folder, SavedFinding};
use crate::summary::Summary;

/// The interval at which the page of a running hunt reloads, in seconds.
const RELOAD: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

/// The most findings shown with their picture; the others are listed.
const MOST_PICTURES: usize = 20;

#[derive(Serialize)]
struct Data<'a> {
    running: bool,
    title: String,
    brief: String,
    summary: Value,
    findings: Vec<FindingData>,
    /// Samples of the progress, with their times in seconds.
    pace: &'a [(f64, ProgressSample)],
    text: String,
}

#[derive(Serialize)]
struct FindingData {
    line: String,
    name: String,
    path: String,
    /// The files of its folder.
    files: Vec<String>,
    /// Why it is one.
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
    commands: Vec<String>,
}

/// The page of a campaign as it stands.
pub(crate) fn page(
    summary: &Summary<'_>,
    folder: &Folder,
    kept: &[SavedFinding],
    running: bool,
    pace: &Timeline<ProgressSample>,
) -> String {
    let text = summary.full();
    let brief = summary.brief();
    let title = brief.lines().next().unwrap_or_default().to_owned();
    let finding =
        |(at, kept): (usize, &SavedFinding)| finding(summary, folder, kept, at < MOST_PICTURES);
    let data = Data {
        running,
        title: title.clone(),
        brief,
        summary: serde_json::from_str(&summary.json()).unwrap_or_default(),
        pace: pace.samples(),
        findings: kept.iter().enumerate().map(finding).collect(),
        text: text.clone(),
    };
    let reload = running.then_some(RELOAD);
    html(&Page { kind: Kind::Hunt, title: &title, text: &text, reload, data: &data })
}

fn finding(
    summary: &Summary<'_>,
    folder: &Folder,
    kept: &SavedFinding,
    drawn: bool,
) -> FindingData {
    let place = folder.path().join(&kept.path);
    let read = |name: &str| std::fs::read_to_string(place.join(name)).ok();
    let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
    let mut files: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    files.sort();
    let has = |name: &str| files.iter().any(|file| file == name);
    let mut commands = Vec::new();
    let (model, shown) = (&kept.model, place.display());
    if has("minimal.trace") {
        commands
            .push(format!("tribunal explain --model {model} -o why.html {shown}/minimal.trace"));
    }
    if has("certificate.jsonl") {
        commands.push(format!("tribunal certify {shown}/minimal.trace {shown}/certificate.jsonl"));
    }
    if has("program.txt") {
        let on = &kept.target;
        commands.push(format!("tribunal run {shown}/program.txt --on {on} --check {model}"));
    }
    FindingData {
        line: summary.line(kept),
        name: kept.name.clone(),
        path: kept.path.clone(),
        why: read("why.txt").or_else(|| read("what.txt")).unwrap_or_default(),
        svg: read("why.svg").filter(|_| drawn),
        files,
        commands,
    }
}
