//! RESULTS.html: the same as RESULTS.md as one page, with plots that answer to the pointer.
//!
//! The page is made of the Markdown that is there and of the plots beside it, which carry their
//! numbers (`chart.rs`), so that no measurement is needed to make it again.

use std::fs;
use std::io;
use std::path::Path;

use page::{Kind, Page, html};
use serde::Serialize;
use serde_json::Value;

use crate::chart;

/// A part of the page, from top to bottom.
#[derive(Serialize, PartialEq, Debug)]
#[serde(tag = "is", rename_all = "lowercase")]
enum Block {
    Heading { level: usize, text: String },
    Paragraph { spans: Vec<Span> },
    List { items: Vec<Vec<Span>> },
    Table { head: Vec<Vec<Span>>, right: Vec<bool>, rows: Vec<Vec<Vec<Span>>> },
    Plot { chart: Value },
}

/// Words of one kind.
#[derive(Serialize, PartialEq, Debug)]
#[serde(tag = "is", content = "text", rename_all = "lowercase")]
enum Span {
    Plain(String),
    Strong(String),
    Emphasis(String),
    Code(String),
    Link(String, String),
}

#[derive(Serialize)]
struct Data<'a> {
    blocks: Vec<Block>,
    text: &'a str,
}

/// Writes RESULTS.html beside RESULTS.md of this folder.
pub(crate) fn save(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("RESULTS.html"), made(folder)?)
}

/// The page of a folder.
fn made(folder: &Path) -> io::Result<String> {
    let text = fs::read_to_string(folder.join("RESULTS.md"))?;
    let plot = |path: &str| {
        let svg = fs::read_to_string(folder.join(path)).ok()?;
        chart::numbers(&svg)
    };
    let data = Data { blocks: blocks(&text, plot), text: &text };
    let title = "Tribunal: results of measurements";
    Ok(html(&Page { kind: Kind::Results, title, text: &text, reload: None, data: &data }))
}

/// What the Markdown of this program says: headings, paragraphs, lists, tables and plots. A plot whose
/// numbers are not known is left out.
fn blocks(text: &str, plot: impl Fn(&str) -> Option<Value>) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let level = line.bytes().take_while(|&byte| byte == b'#').count();
        let mut rest = |begins: fn(&str) -> bool| {
            let mut rest = Vec::new();
            while let Some(line) = lines.next_if(|line| begins(line)) {
                rest.push(line);
            }
            rest
        };
        match line {
            _ if line.trim().is_empty() || line.starts_with("<!--") => {}
            _ if level > 0 => {
                found.push(Block::Heading { level, text: line[level..].trim().to_owned() });
            }
            _ if line.starts_with("![") => {
                let path = line.rsplit_once('(').map_or("", |(_, path)| path.trim_end_matches(')'));
                found.extend(plot(path).map(|chart| Block::Plot { chart }));
            }
            _ if line.starts_with("- ") => {
                let more = rest(|line| line.starts_with("- "));
                let items = std::iter::once(line).chain(more).map(|item| spans(&item[2..]));
                found.push(Block::List { items: items.collect() });
            }
            _ if line.starts_with('|') => found.push(table(line, &rest(|l| l.starts_with('|')))),
            _ => {
                let plain = |line: &str| {
                    !line.is_empty()
                        && !line.starts_with(['|', '#', '!', '<'])
                        && !line.starts_with("- ")
                };
                let more = rest(plain);
                let all: Vec<&str> = std::iter::once(line).chain(more).collect();
                found.push(Block::Paragraph { spans: spans(&all.join(" ")) });
            }
        }
    }
    found
}

fn table(head: &str, rest: &[&str]) -> Block {
    let cells = |line: &str| -> Vec<Vec<Span>> {
        line.trim().trim_matches('|').split('|').map(|cell| spans(cell.trim())).collect()
    };
    let rule = rest.first().copied().unwrap_or_default();
    let right = rule.trim().trim_matches('|').split('|').map(|cell| cell.trim().ends_with(':'));
    let rows = rest.iter().skip(1).map(|line| cells(line)).collect();
    Block::Table { head: cells(head), right: right.collect(), rows }
}

/// Words with what is strong, emphasised, code or a link.
fn spans(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match marked(rest) {
            Some((span, length)) => {
                if !plain.is_empty() {
                    found.push(Span::Plain(std::mem::take(&mut plain)));
                }
                found.push(span);
                rest = &rest[length..];
            }
            None => {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    if !plain.is_empty() {
        found.push(Span::Plain(plain));
    }
    found
}

/// The marked words that a text begins with, and how many bytes they take.
fn marked(text: &str) -> Option<(Span, usize)> {
    type Kind = fn(String) -> Span;
    let kinds: [(&str, Kind); 3] = [("`", Span::Code), ("**", Span::Strong), ("*", Span::Emphasis)];
    for (mark, span) in kinds {
        let Some(inner) = text.strip_prefix(mark) else { continue };
        let end = inner.find(mark).filter(|&end| end > 0 && !inner.starts_with(' '));
        return end.map(|end| (span(inner[..end].to_owned()), end + 2 * mark.len()));
    }
    let (words, after) = text.strip_prefix('[')?.split_once("](")?;
    let (target, _) = after.split_once(')')?;
    let harmless = |c: char| c.is_ascii_alphanumeric() || "./#-_".contains(c);
    let fits = !words.contains(['[', ']']) && target.chars().all(harmless);
    let length = words.len() + target.len() + "[]()".len();
    fits.then(|| (Span::Link(words.to_owned(), target.to_owned()), length))
}

#[cfg(test)]
mod tests;
