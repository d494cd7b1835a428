//! Which models are explored, and how large.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::context::{Context, workspace};

/// A model with values for its constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// What it is called.
    pub(crate) model: String,
    /// Its source.
    pub(crate) file: PathBuf,
    /// Names and values.
    pub(crate) constants: Vec<(String, String)>,
    /// States without symmetry, as far as they are known.
    pub(crate) states: u64,
}

impl Size {
    /// How tables name it.
    pub(crate) fn title(&self) -> String {
        let constants: Vec<String> =
            self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.model, constants.join(" ")).trim().to_owned()
    }

    /// A line of `expected.tsv`, if it is a verified model without symmetry and not a broken one.
    fn parse(line: &str) -> Option<Size> {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[file, constants, "off", "verified", _, states, ..] = &cells[..] else { return None };
        let pair = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let constants = match constants {
            "-" => Vec::new(),
            list => list.split(',').map(pair).collect::<Option<_>>()?,
        };
        let model = file.strip_suffix(".m")?.to_owned();
        let file = workspace().join("protocols").join(file);
        Some(Size { model, file, constants, states: states.parse().ok()? })
    }
}

/// For each model the largest size of `protocols/expected.tsv` that the slowest checker explores in
/// half a minute or so: 10⁵ to 1.3·10⁶ states, fewer in a quick run.
pub(crate) fn to_compare(context: &Context) -> io::Result<Vec<Size>> {
    let (least, most) = context.pick((100_000, 1_300_000), (10_000, 100_000));
    let mut sizes = between(least, most)?;
    // The largest of each model comes last among its own.
    sizes.sort_by(|a, b| (&a.model, a.states).cmp(&(&b.model, b.states)));
    let mut largest: Vec<Size> = Vec::new();
    for size in sizes {
        match largest.last_mut() {
            Some(last) if last.model == size.model => *last = size,
            _ => largest.push(size),
        }
    }
    Ok(largest)
}

/// The sizes that only we explore here.
pub(crate) fn large(context: &Context) -> io::Result<Vec<Size>> {
    let (least, most) = context.pick((1_300_001, u64::MAX), (100_001, 500_000));
    between(least, most)
}

fn between(least: u64, most: u64) -> io::Result<Vec<Size>> {
    let text = fs::read_to_string(workspace().join("protocols/expected.tsv"))?;
    let sizes = text.lines().filter_map(Size::parse);
    Ok(sizes.filter(|size| (least..=most).contains(&size.states)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_a_size() {
        let size = Size::parse("msi.m\tP=3,V=2\toff\tverified\t-\t1234\t5678\t").unwrap();
        assert_eq!(size.title(), "msi P=3 V=2");
        assert_eq!(size.states, 1234);
        assert!(Size::parse("msi.m\t-\tfull\tverified\t-\t1\t2\t").is_none());
        assert!(Size::parse("broken/msi-x.m\t-\toff\tviolation\tp\t1\t2\t").is_none());
    }
}
