//! Prints the prepared program and the abstraction of a Murphi model.

use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_parametric::{Options, abstraction, emit, prepare, read_lemmas};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&arguments[1]).expect("the model can be read");
    let source = Source { name: arguments[1].clone(), text };
    let (program, _) = parse(&source);
    let program = program.expect("it is Murphi");
    let prepared = prepare(&program, arguments.get(3).map(String::as_str))
        .unwrap_or_else(|problems| refused(&source, problems));
    if arguments[2] == "prepared" {
        return println!("{}", print(&prepared.program));
    }
    let lemmas = match arguments.get(4) {
        Some(name) => {
            let text = std::fs::read_to_string(name).expect("the lemmas can be read");
            let source = Source { name: name.clone(), text };
            read_lemmas(&source, &prepared).unwrap_or_else(|problems| refused(&source, problems))
        }
        None => Vec::new(),
    };
    let leave_out = arguments.get(5).map(|name| vec![name.clone()]).unwrap_or_default();
    let options = Options { leave_out, ..Options::default() };
    let made = abstraction(&prepared, &options, &lemmas)
        .unwrap_or_else(|problems| refused(&source, problems));
    for note in &made.notes {
        eprint!("{}", note.render(&source, false));
    }
    match arguments[2].as_str() {
        "portable" => println!("{}", emit(&made, &prepared, &arguments[1])),
        _ => println!("{}", print(&made.program)),
    }
}

fn refused<T>(source: &Source, problems: Vec<murphi::diagnostic::Diagnostic>) -> T {
    for problem in problems {
        eprint!("{}", problem.render(source, false));
    }
    std::process::exit(2)
}
