//! Which models are explored, and how large.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::context::{Context, workspace};

/// A model with values for its constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Its file in `protocols/`, without the ending.
    pub(crate) model: String,
    /// Names and values.
    pub(crate) constants: Vec<(String, String)>,
    /// States without symmetry.
    pub(crate) states: u64,
}

impl Size {
    /// How tables name it.
    pub(crate) fn title(&self) -> String {
        let constants: Vec<String> =
            self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.model, constants.join(" ")).trim().to_owned()
    }

    /// The source.
    pub(crate) fn file(&self) -> PathBuf {
        workspace().join("protocols").join(format!("{}.m", self.model))
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
        Some(Size { model, constants, states: states.parse().ok()? })
    }
}

/// The sizes of `protocols/expected.tsv` with 10⁵ to 10⁷ states, smaller ones in a quick run.
pub(crate) fn of_benchmarks(context: &Context) -> io::Result<Vec<Size>> {
    let text = fs::read_to_string(workspace().join("protocols/expected.tsv"))?;
    let (least, most) = context.pick((100_000, 10_000_000), (10_000, 300_000));
    let mut sizes: Vec<Size> = text.lines().filter_map(Size::parse).collect();
    sizes.retain(|size| (least..=most).contains(&size.states));
    Ok(sizes)
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
