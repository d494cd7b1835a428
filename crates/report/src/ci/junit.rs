//! JUnit XML, as Jenkins, GitLab, GitHub actions and Azure read it: one suite for a run, one case
//! for a question.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Case, Complaint, Kind};

/// A suite that grows. The numbers stand at its head, so it is written when the run ends.
#[derive(Clone, Debug)]
pub struct Junit {
    name: String,
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    time: Duration,
}

impl Junit {
    /// An empty suite.
    pub fn new(name: impl Into<String>) -> Junit {
        Junit {
            name: name.into(),
            cases: String::new(),
            tests: 0,
            failures: 0,
            errors: 0,
            time: Duration::ZERO,
        }
    }

    /// Adds a case.
    pub fn add(&mut self, case: &Case) {
        let Case { subject, name, time, complaint } = case;
        self.tests += 1;
        self.time += *time;
        let (subject, name) = (escaped(subject), escaped(name));
        let head = format!("    <testcase classname=\"{subject}\" name=\"{name}\"");
        let _ = write!(self.cases, "{head} time=\"{}\"", seconds(*time));
        let Some(complaint) = complaint else {
            self.cases.push_str("/>\n");
            return;
        };
        if let Some(place) = complaint.places.first() {
            let _ =
                write!(self.cases, " file=\"{}\" line=\"{}\"", escaped(&place.file), place.line);
        }
        self.cases.push_str(">\n");
        let element = match complaint.kind {
            Kind::Violation => {
                self.failures += 1;
                "failure"
            }
            Kind::Undecided | Kind::Malformed => {
                self.errors += 1;
                "error"
            }
        };
        let Complaint { kind, message, text, .. } = complaint;
        let (kind, message, text) = (kind.name(), escaped(message), escaped(text));
        let _ = writeln!(
            self.cases,
            "      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>\n    </testcase>"
        );
    }

    /// The whole file.
    pub fn text(&self) -> String {
        let Junit { name, cases, tests, failures, errors, time } = self;
        let counts = format!(
            "name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"0\" time=\"{}\"",
            escaped(name),
            seconds(*time)
        );
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
             <testsuite {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
        )
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

/// A text that stands in an element or an attribute. Line breaks survive in attributes, and what
/// XML cannot hold is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            '\t' => escaped.push_str("    "),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            character if character.is_control() => escaped.push('\u{FFFD}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_counts_its_cases_and_escapes_what_they_say() {
        let mut junit = Junit::new("tribunal check");
        let time = Duration::from_micros(41);
        junit.add(&Case::passed("a&b.trace", "trace 1: sc").took(time));
        let violation = Complaint::violation("0 < 1", "a \"cycle\"\u{1b}[1m\n".to_owned());
        let violation = violation.at("a&b.trace", Some(9), None);
        junit.add(&Case::failed("a&b.trace", "trace 2: sc", violation).took(time));
        let undecided = Complaint::undecided("time ran out", String::new());
        junit.add(&Case::failed("a&b.trace", "trace 3: sc", undecided));
        let counts = "name=\"tribunal check\" tests=\"3\" failures=\"1\" errors=\"1\" \
                      skipped=\"0\" time=\"0.000082\"";
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites {counts}>
  <testsuite {counts}>
    <testcase classname=\"a&amp;b.trace\" name=\"trace 1: sc\" time=\"0.000041\"/>
    <testcase classname=\"a&amp;b.trace\" name=\"trace 2: sc\" time=\"0.000041\" \
             file=\"a&amp;b.trace\" line=\"9\">
      <failure type=\"violation\" message=\"0 &lt; 1\">a &quot;cycle&quot;\u{FFFD}[1m\n</failure>
    </testcase>
    <testcase classname=\"a&amp;b.trace\" name=\"trace 3: sc\" time=\"0.000000\">
      <error type=\"undecided\" message=\"time ran out\"></error>
    </testcase>
  </testsuite>
</testsuites>
"
        );
        assert_eq!(junit.text(), expected);
    }
}
