//! Prints the prepared program and the abstraction of a Murphi model.

use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_parametric::{Options, abstraction, prepare};

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
    let made = abstraction(&prepared, &Options::default(), &[])
        .unwrap_or_else(|problems| refused(&source, problems));
    for note in &made.notes {
        eprint!("{}", note.render(&source, false));
    }
    match arguments[2].as_str() {
        "portable" => println!("{}", print(&made.portable)),
        _ => println!("{}", print(&made.program)),
    }
}

fn refused<T>(source: &Source, problems: Vec<murphi::diagnostic::Diagnostic>) -> T {
    for problem in problems {
        eprint!("{}", problem.render(source, false));
    }
    std::process::exit(2)
}
