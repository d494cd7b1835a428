//! Reports as one HTML file that opens from disk: data as JSON, and a script of ours that draws it.
//!
//! A page holds everything it needs and fetches nothing. Its Content-Security-Policy allows the one
//! script and the one style sheet that it carries, by their SHA-256, and no request at all, so that
//! nothing in a trace or a model can run or call home. The scripts put text into the page as text,
//! never as markup.
//!
//! ```
//! #[derive(serde::Serialize)]
//! struct Data { name: &'static str }
//!
//! let page = tribunal_page::html(&tribunal_page::Page {
//!     kind: tribunal_page::Kind::Index,
//!     title: "traces <judged>",
//!     text: "the same as text",
//!     reload: None,
//!     data: &Data { name: "</script><script>alert(1)</script>" },
//! });
//! assert!(page.contains(r#"{"name":"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e"}"#));
//! assert_eq!(page.matches("<script").count(), 2);
//! ```

mod base64;

use std::num::NonZeroU32;

use serde::Serialize;

/// What a page shows; each kind has a script of its own beside the one of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A trace: why it violates a model, or the order that explains it.
    Trace,
    /// A run of a protocol, and what was explored.
    Run,
    /// A hunt: what it found so far, and what it exercised.
    Hunt,
    /// Litmus tests: their outcomes under models and on this machine.
    Litmus,
    /// A list of pages.
    Index,
    /// Measurements: text, tables and plots.
    Results,
}

/// What goes into a page.
pub struct Page<'a, D: Serialize> {
    /// What is drawn.
    pub kind: Kind,
    /// The title of the window.
    pub title: &'a str,
    /// The same as plain text, for readers without scripts.
    pub text: &'a str,
    /// After how many seconds the page loads itself again, while its subject is still changing.
    pub reload: Option<NonZeroU32>,
    /// What the script draws.
    pub data: &'a D,
}

const STYLE: &str = include_str!("assets/page.css");
const FRAME: &str = include_str!("assets/frame.js");

impl Kind {
    /// The scripts of the kind, in the order in which they run.
    fn scripts(self) -> &'static [&'static str] {
        match self {
            Kind::Trace => &[
                include_str!("assets/argument.js"),
                include_str!("assets/lanes.js"),
                include_str!("assets/play.js"),
                include_str!("assets/trace.js"),
            ],
            Kind::Run => &[
                include_str!("assets/argument.js"),
                include_str!("assets/chart.js"),
                include_str!("assets/source.js"),
                include_str!("assets/plot.js"),
                include_str!("assets/search.js"),
                include_str!("assets/proof.js"),
                include_str!("assets/run.js"),
            ],
            Kind::Hunt => &[include_str!("assets/plot.js"), include_str!("assets/hunt.js")],
            Kind::Litmus => &[include_str!("assets/litmus.js")],
            Kind::Index => &[include_str!("assets/index.js")],
            Kind::Results => &[include_str!("assets/plot.js"), include_str!("assets/results.js")],
        }
    }

    fn script(self) -> String {
        let parts: String = self.scripts().iter().map(|part| format!("{part}\n")).collect();
        format!("\"use strict\";(() => {{\n{FRAME}\n{parts}}})();\n")
    }
}

/// The page as text of HTML.
pub fn html<D: Serialize>(page: &Page<'_, D>) -> String {
    let script = page.kind.script();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        base64::sha256(script.as_bytes()),
        base64::sha256(STYLE.as_bytes())
    );
    let reload = page.reload.map_or_else(String::new, |seconds| {
        format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n")
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n{reload}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"tribunal {version}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript><pre>{text}</pre></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{script}</script>\n</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(page.title),
        text = escaped(page.text),
        data = inert(page.data),
    )
}

/// The data as JSON without a character that could end the element it stands in, begin a comment or
/// be a line break to a script.
fn inert<D: Serialize>(data: &D) -> String {
    let json = serde_json::to_string(data).expect("reports have nothing that JSON cannot say");
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            // All of them occur in strings only.
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

/// Text for HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\0' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 6] =
        [Kind::Trace, Kind::Run, Kind::Hunt, Kind::Litmus, Kind::Index, Kind::Results];

    #[test]
    fn scripts_and_styles_cannot_end_their_element() {
        for kind in KINDS {
            let script = kind.script().to_lowercase();
            assert!(!script.contains("</script") && !script.contains("<!--"), "{kind:?}");
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }

    #[test]
    fn text_is_never_taken_for_markup() {
        for kind in KINDS {
            let script = kind.script();
            let risky = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("];
            for risky in risky {
                assert!(!script.contains(risky), "{kind:?} uses {risky}");
            }
        }
    }

    #[test]
    fn data_survives_what_keeps_it_inert() {
        let hostile = "</script><!-- & \u{2028}\u{2029} \" \\ \u{0} <script>";
        let text = inert(&[hostile]);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        let back: Vec<String> = serde_json::from_str(&text).expect("it is JSON still");
        assert_eq!(back, [hostile]);
    }

    #[test]
    fn pages_are_small() {
        for kind in KINDS {
            let page = Page { kind, title: "", text: "", reload: None, data: &() };
            assert!(html(&page).len() < 300_000, "{kind:?}");
        }
    }
}
