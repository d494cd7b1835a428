//! The page of the repository is made of its results, and answers in a real browser.

use browser::Browser;

use super::*;
use crate::axis::{Axis, Scale, Unit};
use crate::chart::{Chart, Line};

#[test]
fn the_page_of_the_repository_is_made_of_its_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    snapshot::expect(&folder.join("RESULTS.html"), &made(folder).unwrap());
}

#[test]
fn every_plot_of_the_repository_has_its_numbers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(folder.join("RESULTS.md")).unwrap();
    let images = text.lines().filter(|line| line.starts_with("![")).count();
    let read = |path: &str| chart::numbers(&fs::read_to_string(folder.join(path)).unwrap());
    let found = blocks(&text, read);
    let plots = found.iter().filter(|block| matches!(block, Block::Plot { .. }));
    assert!(images > 0 && plots.count() == images);
}

#[test]
fn markdown_becomes_blocks_and_hostile_text_stays_text() {
    let text = "# A\n\nwords **b** *c* `d|` [e](f.md) [g](javascript:x) 2 * 3\nmore\n\n\
                - one\n- two\n\n| a | b |\n| --- | ---: |\n| <script> | 2 |\n";
    let plain = |text: &str| Span::Plain(text.to_owned());
    let found = blocks(text, |_| None);
    assert_eq!(found[0], Block::Heading { level: 1, text: "A".to_owned() });
    let Block::Paragraph { spans } = &found[1] else { panic!("{found:?}") };
    assert_eq!(spans[1], Span::Strong("b".to_owned()));
    assert_eq!(spans[7], Span::Link("e".to_owned(), "f.md".to_owned()));
    assert_eq!(spans[8], plain(" [g](javascript:x) 2 * 3 more"));
    let Block::List { items } = &found[2] else { panic!("{found:?}") };
    assert_eq!(items.len(), 2);
    let Block::Table { right, rows, .. } = &found[3] else { panic!("{found:?}") };
    assert_eq!((&right[..], &rows[0][0]), (&[false, true][..], &vec![plain("<script>")]));
}

/// A page at a place of its own.
fn written(name: &str, page: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("tribunal-{name}-{}.html", std::process::id()));
    fs::write(&path, page).unwrap();
    path
}

#[test]
fn plots_answer_to_the_pointer_and_to_keys() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = written("results", &made(folder).unwrap());
    let mut tab = browser.open(&path);
    let text = fs::read_to_string(folder.join("RESULTS.md")).unwrap();
    let plots = text.lines().filter(|line| line.starts_with("![")).count() as u64;
    let parts = text.lines().filter(|line| line.starts_with("## ")).count() as u64;
    assert_eq!(tab.count("figure.plot"), plots);
    assert_eq!(tab.count(".results-contents a"), parts);
    assert!(tab.count(".results-table") > 10);

    tab.hover(".plot svg");
    assert!(tab.text(".plot-tip").contains(": "), "{}", tab.text(".plot-tip"));
    assert!(tab.count(".plot-hit") > 0);
    tab.evaluate("document.querySelector('.plot svg').focus()");
    tab.press("ArrowRight");
    let first = tab.text(".plot-tip");
    tab.press("ArrowRight");
    assert_ne!(tab.text(".plot-tip"), first);
    tab.click(".plot summary");
    assert!(tab.becomes("document.querySelectorAll('.plot-table tbody tr').length > 3"));

    tab.click(".results-contents li:last-child a");
    assert!(tab.becomes("scrollY > 1000"));
    assert_eq!(tab.complaints(), Vec::<String>::new());
    fs::remove_file(path).unwrap();
}

#[test]
fn text_of_results_is_never_markup() {
    let Some(mut browser) = Browser::start() else { return };
    let hostile = "</script><script>window.ran=1</script><img src=x onerror=window.ran=1>'\"<!--";
    let folder = std::env::temp_dir().join(format!("tribunal-results-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "# {hostile}\n\n## {hostile}\n\n{hostile} `{hostile}` [{hostile}](a.md)\n\n- {hostile}\n\n\
         | {hostile} | b |\n| --- | --- |\n| {hostile} | 2 |\n\n![{hostile}](plot.svg)\n"
    );
    fs::write(folder.join("RESULTS.md"), text).unwrap();
    let axis = || Axis::new(hostile, Scale::Linear, Unit::Count);
    let lines = vec![Line::new(hostile, [(1.0, 1.0), (2.0, 2.0)]), Line::new("b", [(1.0, 2.0)])];
    let chart = Chart { title: hostile.to_owned(), x: axis(), y: axis(), lines };
    fs::write(folder.join("plot.svg"), chart.svg()).unwrap();
    save(&folder).unwrap();
    let mut tab = browser.open(&folder.join("RESULTS.html"));
    for place in ["h1", "h2", "p.prose", "code", "a.link", "li", "th", "td", "figcaption"] {
        let place = if place == "a.link" { "p.prose a" } else { place };
        assert!(tab.text(place).contains(hostile), "{place}");
    }
    tab.evaluate("document.querySelector('.plot svg').focus()");
    tab.press("ArrowRight");
    assert!(tab.text(".plot-tip").contains(hostile));
    assert_eq!(tab.evaluate("typeof window.ran"), "undefined");
    assert_eq!(tab.evaluate("document.scripts.length"), 2);
    assert_eq!(tab.count("img"), 0);
    assert_eq!(tab.complaints(), Vec::<String>::new());
    fs::remove_dir_all(folder).unwrap();
}
