//! Cases as remarks at the lines of files: workflow commands of GitHub, and the Code Quality report
//! of GitLab.

use serde::Serialize;

use super::{Case, Complaint, Kind, Place};

/// The workflow commands of GitHub that show a case at its places, one a line; nothing if it
/// passed.
///
/// ```
/// use tribunal_report::ci::{Case, Complaint, github};
///
/// let complaint = Complaint::violation("a cycle of 4 events", "line 9: …".to_owned());
/// let case = Case::failed("a.trace", "trace 1: sc", complaint.at("a.trace", Some(9), None));
/// assert_eq!(
///     github(&case),
///     "::error file=a.trace,line=9,title=a.trace trace 1%3A sc::a cycle of 4 events%0Aline 9: …\n"
/// );
/// ```
pub fn github(case: &Case) -> String {
    let Some(complaint) = &case.complaint else { return String::new() };
    let level = match complaint.kind {
        Kind::Violation | Kind::Malformed => "error",
        Kind::Undecided => "warning",
    };
    let title = property(&format!("{} {}", case.subject, case.name));
    let whole = || format!("{}\n{}", complaint.message, complaint.text.trim_end());
    if complaint.places.is_empty() {
        return format!("::{level} title={title}::{}\n", data(whole().trim_end()));
    }
    let line = |place: &Place| {
        let column = place.column.map_or_else(String::new, |column| format!(",col={column}"));
        let message = place.message.clone().unwrap_or_else(whole);
        format!(
            "::{level} file={},line={}{column},title={title}::{}\n",
            property(&place.file),
            place.line,
            data(message.trim_end())
        )
    };
    complaint.places.iter().map(line).collect()
}

/// The text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A Code Quality report of GitLab that grows.
#[derive(Clone, Debug, Default)]
pub struct CodeQuality {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Serialize)]
struct Entry {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Clone, Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Clone, Debug, Serialize)]
struct Lines {
    begin: u64,
}

impl CodeQuality {
    /// Adds a case, unless it passed. One without a place is put at the first line of its subject.
    pub fn add(&mut self, case: &Case) {
        let Some(Complaint { kind, message, places, .. }) = &case.complaint else { return };
        let (severity, check_name) = match kind {
            Kind::Violation => ("critical", "tribunal-violation"),
            Kind::Malformed => ("major", "tribunal-malformed"),
            Kind::Undecided => ("minor", "tribunal-undecided"),
        };
        let whole = Place { file: case.subject.clone(), line: 1, column: None, message: None };
        let none = std::slice::from_ref(&whole);
        for place in if places.is_empty() { none } else { places } {
            let path = place.file.trim_start_matches("./").to_owned();
            let said = place.message.as_ref().unwrap_or(message);
            let description = format!("{}: {said}", case.name);
            let fingerprint = format!("{:016x}", hash(&[&path, &case.name, said]));
            let location = Location { path, lines: Lines { begin: place.line } };
            self.entries.push(Entry { description, check_name, fingerprint, severity, location });
        }
    }

    /// The whole file.
    pub fn text(&self) -> String {
        crate::json::line(&self.entries) + "\n"
    }
}

/// FNV-1a of these texts: GitLab treats entries with equal fingerprints as the same entry.
fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_quality_has_a_path_a_line_and_a_fingerprint_that_stays() {
        let mut report = CodeQuality::default();
        report.add(&Case::passed("./a.trace", "trace 1: sc"));
        let complaint = Complaint::violation("a cycle", String::new());
        report.add(&Case::failed(
            "./a.trace",
            "trace 2: sc",
            complaint.at("./a.trace", Some(9), None),
        ));
        report.add(&Case::failed(
            "b.m",
            "explore",
            Complaint::undecided("time ran out", String::new()),
        ));
        assert_eq!(hash(&[]), 0xCBF2_9CE4_8422_2325);
        let fingerprint = |texts: &[&str]| format!("{:016x}", hash(texts));
        let expected = format!(
            "[{{\"description\":\"trace 2: sc: a cycle\",\"check_name\":\"tribunal-violation\",\
             \"fingerprint\":\"{}\",\"severity\":\"critical\",\"location\":{{\"path\":\"a.trace\",\
             \"lines\":{{\"begin\":9}}}}}},{{\"description\":\"explore: time ran out\",\
             \"check_name\":\"tribunal-undecided\",\"fingerprint\":\"{}\",\"severity\":\"minor\",\
             \"location\":{{\"path\":\"b.m\",\"lines\":{{\"begin\":1}}}}}}]\n",
            fingerprint(&["a.trace", "trace 2: sc", "a cycle"]),
            fingerprint(&["b.m", "explore", "time ran out"])
        );
        assert_eq!(report.text(), expected);
    }

    #[test]
    fn github_gets_one_line_for_each_place_and_escaped_text() {
        let source = diagnostics::source::Source { name: "a,b.m".into(), text: "x\ny".into() };
        let span = diagnostics::source::Span { start: 2, end: 3 };
        let problem = diagnostics::diagnostic::Diagnostic::error(span, "100% wrong");
        let complaint = Complaint::malformed("1 error", String::new()).at_each(&source, &[problem]);
        let case = Case::failed("a,b.m", "explore", complaint);
        let line = "::error file=a%2Cb.m,line=2,col=1,title=a%2Cb.m explore::100%25 wrong\n";
        assert_eq!(github(&case), line);
        let complaint = Complaint::undecided("time ran out", String::new());
        let case = Case::failed("host", "tso", complaint);
        assert_eq!(github(&case), "::warning title=host tso::time ran out\n");
    }
}
