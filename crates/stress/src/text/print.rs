//! Programs out, as text.

use std::fmt;

use history::Kinds;

use crate::condition::{Condition, Test};
use crate::program::{Action, Instruction, Place, Program, title};

/// The program as text, with its `end` line.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, &self.program, self.condition.as_ref())
    }
}

/// The program as text, with its `end` line.
///
/// ```
/// let mut programs = tribunal_stress::parse_programs("example", "0: x := 1\n1: x ?")?;
/// assert_eq!(programs.remove(0).program.to_string(), "0: M[x] := 1\n1: M[x] ?\nend\n");
/// # Ok::<(), history::InputError>(())
/// ```
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, None)
    }
}

fn print(
    f: &mut fmt::Formatter<'_>,
    program: &Program,
    condition: Option<&Condition>,
) -> fmt::Result {
    let name = title(&program.name);
    if !name.is_empty() {
        writeln!(f, "program {name}")?;
    }
    for place in program.places.iter().filter(|_| !lies_as_mentioned(program)) {
        writeln!(f, "place M[{}] line {} word {}", place.label, place.line, place.word)?;
    }
    for place in program.places.iter().filter(|place| place.initial != 0) {
        writeln!(f, "init M[{}] == {}", place.label, place.initial)?;
    }
    if program.threads.last().is_some_and(Vec::is_empty) {
        writeln!(f, "threads {}", program.threads.len())?;
    }
    let names = Names::new(program, condition);
    for (thread, instructions) in program.threads.iter().enumerate() {
        for (index, instruction) in instructions.iter().enumerate() {
            write!(f, "{thread}: ")?;
            print_action(f, program, instruction.action)?;
            print_suffixes(f, &names, thread, index, instruction)?;
            writeln!(f)?;
        }
    }
    if let Some(condition) = condition {
        print_condition(f, program, &names, condition)?;
    }
    writeln!(f, "end")
}

/// Whether places are in the order in which the text mentions them, each alone in its line.
fn lies_as_mentioned(program: &Program) -> bool {
    let alone = |(at, place): (usize, &Place)| (place.line, place.word) == (at as u32, 0);
    if !program.places.iter().enumerate().all(alone) {
        return false;
    }
    let initial = (0..program.places.len()).filter(|&place| program.places[place].initial != 0);
    let accessed = program.threads.iter().flatten().filter_map(|i| i.action.place());
    let mut seen = 0;
    for place in initial.chain(accessed.map(|place| place as usize)) {
        match place.cmp(&seen) {
            std::cmp::Ordering::Greater => return false,
            std::cmp::Ordering::Equal => seen += 1,
            std::cmp::Ordering::Less => {}
        }
    }
    seen == program.places.len()
}

fn print_action(f: &mut fmt::Formatter<'_>, program: &Program, action: Action) -> fmt::Result {
    let label = |place: u32| &program.places[place as usize].label;
    match action {
        Action::Load { place } => write!(f, "M[{}] ?", label(place)),
        Action::Store { place, value } => write!(f, "M[{}] := {value}", label(place)),
        Action::Swap { place, value } => {
            write!(f, "<M[{0}] ?; M[{0}] := {value}>", label(place))
        }
        Action::FetchAdd { place, amount } => {
            write!(f, "<M[{0}] ?; M[{0}] += {amount}>", label(place))
        }
        Action::CompareAndSwap { place, expected, new } => {
            write!(f, "<M[{0}] ? {expected}; M[{0}] := {new}>", label(place))
        }
        Action::SYNC => write!(f, "sync"),
        Action::Fence { before, after } => {
            let letters = |kinds: Kinds| match kinds.letters() {
                "" => "-",
                letters => letters,
            };
            write!(f, "fence {},{}", letters(before), letters(after))
        }
    }
}

fn print_suffixes(
    f: &mut fmt::Formatter<'_>,
    names: &Names,
    thread: usize,
    index: usize,
    instruction: &Instruction,
) -> fmt::Result {
    if let Some(order) = instruction.order {
        write!(f, " {}", order.spelling())?;
    }
    if let Some(name) = names.get(thread, index) {
        write!(f, " as {name}")?;
    }
    for (at, &on) in instruction.depends_on.iter().enumerate() {
        let name = names.get(thread, on as usize).unwrap_or_default();
        write!(f, "{}{name}", if at == 0 { " dep " } else { "," })?;
    }
    Ok(())
}

fn print_condition(
    f: &mut fmt::Formatter<'_>,
    program: &Program,
    names: &Names,
    condition: &Condition,
) -> fmt::Result {
    write!(f, "exists")?;
    let mut before = " ";
    for &(thread, index, value) in &condition.reads {
        let name = names.get(thread as usize, index as usize).unwrap_or_default();
        write!(f, "{before}{name} == {value}")?;
        before = ", ";
    }
    for &(place, value) in &condition.finals {
        write!(f, "{before}M[{}] == {value}", program.places[place as usize].label)?;
        before = ", ";
    }
    writeln!(f)
}

/// What instructions are called that others depend on or that the condition speaks of.
struct Names(Vec<Vec<Option<usize>>>);

impl Names {
    fn new(program: &Program, condition: Option<&Condition>) -> Self {
        let mut wanted: Vec<Vec<bool>> =
            program.threads.iter().map(|thread| vec![false; thread.len()]).collect();
        for (thread, instructions) in program.threads.iter().enumerate() {
            for &on in instructions.iter().flat_map(|i| &i.depends_on) {
                wanted[thread][on as usize] = true;
            }
        }
        for &(thread, index, _) in condition.iter().flat_map(|condition| &condition.reads) {
            wanted[thread as usize][index as usize] = true;
        }
        let mut count = 0;
        let mut number = |wanted: bool| {
            count += usize::from(wanted);
            wanted.then(|| count - 1)
        };
        Names(wanted.into_iter().map(|t| t.into_iter().map(&mut number).collect()).collect())
    }

    /// `a` to `z`, then `a1` and so on.
    fn get(&self, thread: usize, index: usize) -> Option<String> {
        let number = self.0[thread][index]?;
        let letter = char::from(b'a' + (number % 26) as u8);
        Some(match number / 26 {
            0 => letter.to_string(),
            round => format!("{letter}{round}"),
        })
    }
}
