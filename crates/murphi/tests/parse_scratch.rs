use tribunal_murphi::{parse::parse, print::print, source::Source};
#[test]
fn scratch() {
    for entry in std::fs::read_dir("../../protocols").unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { continue; }
        let source = Source { name: "m.m".into(), text: std::fs::read_to_string(&path).unwrap() };
        let printed = print(&parse(&source).0.unwrap());
        std::fs::write(format!("/tmp/parser-printed/{}", path.file_name().unwrap().to_str().unwrap()), printed).unwrap();
    }
    let rule = "rule \"r\" x[i].y = 1 & forall j: T do j != i -> !z[j] end ==>\nbegin\n  x[i].y := f(x[i].y, 3) + 1;\n  if a then\n    clear z;\n  end;\nend;\n";
    let source = Source { name: "m.m".into(), text: rule.repeat(2002 / 7) };
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let tokens = tribunal_murphi::lex::lex(&source).0.len();
        let lexed = start.elapsed();
        let start = std::time::Instant::now();
        assert!(parse(&source).0.is_some());
        println!("{} bytes, {tokens} tokens: lex {lexed:?} lex+parse {:?}", source.text.len(), start.elapsed());
    }
}
