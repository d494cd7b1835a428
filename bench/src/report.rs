//! RESULTS.md: one section a part, each with the run it comes from, and plots beside it.
//!
//! A part that is measured again replaces its own section and leaves the others as they are, so
//! every section carries its own date, commit, command and machine. What people have to say about
//! the numbers is kept in `where-we-lose.md` and included as it is. RESULTS.html is made of it (`page.rs`).

use std::fs;
use std::io;
use std::path::Path;

use crate::chart::Chart;
use crate::page;
use crate::table::Table;

const OPENING: &str = "\
# Results

Written by `cargo run --release -p tribunal-bench -- all`; what is measured and how is in
[README.md](README.md). Times are CPU seconds (user and system) unless said otherwise, and the
machine was shared with other work: trust ratios within one section more than seconds. `×2.00` in
a column is the ratio to the row above, unless the column says to what.
";

/// One part of the results.
pub(crate) struct Section {
    name: &'static str,
    text: String,
    plots: Vec<(String, String)>,
}

impl Section {
    /// An empty section. Names order the sections of the file.
    pub(crate) fn new(name: &'static str, title: &str) -> Self {
        Self { name, text: format!("## {title}\n\n"), plots: Vec::new() }
    }

    /// A smaller heading.
    pub(crate) fn heading(&mut self, words: &str) {
        self.text += &format!("### {words}\n\n");
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, words: impl AsRef<str>) {
        self.text += &format!("{}\n\n", words.as_ref());
    }

    /// A table, unless it is empty.
    pub(crate) fn table(&mut self, table: &Table) {
        if !table.is_empty() {
            self.text += &format!("{}\n", table.markdown());
        }
    }

    /// A plot; `file` is its name without folder and ending.
    pub(crate) fn plot(&mut self, file: &str, chart: &Chart) {
        self.text += &format!("![{}](plots/{file}.svg)\n\n", chart.title);
        self.plots.push((format!("{file}.svg"), chart.svg()));
    }

    /// Writes the plots and puts the section into RESULTS.md of this folder.
    pub(crate) fn save(&self, folder: &Path, run: &str) -> io::Result<()> {
        let plots = folder.join("plots");
        fs::create_dir_all(&plots)?;
        for (file, svg) in &self.plots {
            fs::write(plots.join(file), svg)?;
        }
        let results = folder.join("RESULTS.md");
        let old = fs::read_to_string(&results).unwrap_or_default();
        let remarks = fs::read_to_string(folder.join("where-we-lose.md")).unwrap_or_default();
        let (title, body) = self.text.split_once("\n\n").unwrap_or((&self.text, ""));
        let section = format!("{title}\n\n{run}\n\n{}", body.trim_end());
        fs::write(results, assembled(&old, &remarks, self.name, &section))?;
        page::save(folder)
    }
}

/// The parts of RESULTS.md, in order.
const PARTS: [&str; 9] =
    ["grid", "gradual", "growth", "hard", "explore", "generated", "beyond", "verify", "any"];

fn marks(part: &str) -> (String, String) {
    (format!("<!-- begin {part} -->"), format!("<!-- end {part} -->"))
}

/// The file with one section replaced and the others kept.
fn assembled(old: &str, remarks: &str, changed: &str, section: &str) -> String {
    let mut file = OPENING.to_owned();
    if !remarks.trim().is_empty() {
        file += &format!("\n{}\n", remarks.trim());
    }
    for part in PARTS {
        let kept = if part == changed { Some(section) } else { section_of(old, part) };
        if let Some(text) = kept {
            let (begin, end) = marks(part);
            file += &format!("\n{begin}\n{}\n{end}\n", text.trim());
        }
    }
    file
}

fn section_of<'a>(file: &'a str, part: &str) -> Option<&'a str> {
    let (begin, end) = marks(part);
    file.split_once(&begin)?.1.split_once(&end).map(|(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_section_replaces_its_own_and_keeps_the_others_in_order() {
        let first = assembled("", "", "growth", "## Growth\n\nold");
        let second = assembled(&first, "", "grid", "## Grid\n\ntext");
        let third = assembled(&second, "We lose here.", "growth", "## Growth\n\nnew");
        assert!(third.contains("We lose here."));
        assert!(!third.contains("old"));
        let at = |words: &str| third.find(words).unwrap();
        assert!(at("We lose") < at("## Grid") && at("text") < at("new"));
    }
}
