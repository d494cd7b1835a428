//! Programs as JSON: what `exec:` targets get, and what `--json` prints.
//!
//! ```text
//! {"name":"SB",
//!  "places":[{"addr":"x","initial":0,"line":0,"word":0},{"addr":"y","initial":0,"line":1,"word":0}],
//!  "threads":[[{"op":"write","addr":"x","value":1},{"op":"read","addr":"y"}],
//!             [{"op":"write","addr":"y","value":1},{"op":"read","addr":"x"}]],
//!  "exists":{"reads":[{"thread":0,"index":1,"value":0},{"thread":1,"index":1,"value":0}],
//!            "finals":[]}}
//! ```
//!
//! Operations are `read`, `write` (`value`), `swap` (`value`), `add` (`amount`), `cas` (`expected`,
//! `value`) and `fence` (`before`, `after`: `"r"`, `"w"`, `"rw"`, `""`). `deps` lists the earlier
//! instructions of the thread, by index, that an instruction depends on.

use history::{AccessOrder, AddressLabel, InputError, InputErrorKind, Kinds};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Test};
use crate::program::{Action, Instruction, Place, Program, title};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramShape {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    places: Vec<PlaceShape>,
    threads: Vec<Vec<InstructionShape>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exists: Option<ConditionShape>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceShape {
    addr: Label,
    #[serde(default)]
    initial: u64,
    line: u32,
    word: u8,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum Label {
    Number(u64),
    Name(String),
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct InstructionShape {
    op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    addr: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deps: Vec<u32>,
    /// `acq`, `acqpc`, `rel`, `acqrel` or `sc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionShape {
    #[serde(default)]
    reads: Vec<ReadShape>,
    #[serde(default)]
    finals: Vec<FinalShape>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadShape {
    thread: u32,
    index: u32,
    value: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FinalShape {
    addr: Label,
    value: u64,
}

/// The input of an `exec:` target.
#[derive(Serialize)]
struct Order<'a> {
    tribunal: u32,
    runs: u64,
    seed: u64,
    program: &'a ProgramShape,
}

impl Test {
    /// The program as one line of JSON, without its line end.
    pub fn to_json(&self) -> String {
        encode(&shape(&self.program, self.condition.as_ref()))
    }
}

impl Program {
    /// The program as one line of JSON, without its line end.
    pub fn to_json(&self) -> String {
        encode(&shape(self, None))
    }

    /// The input line with which an `exec:` target runs the program.
    pub fn order(&self, runs: u64, seed: u64) -> String {
        encode(&Order { tribunal: 1, runs, seed, program: &shape(self, None) })
    }
}

fn encode(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("numbers and names can always be written")
}

/// Reads programs as JSON Lines, one a line.
///
/// ```
/// let sb = "0: x := 1\n0: y ?\n1: y := 1\n1: x ?";
/// let mut tests = tribunal_stress::parse_programs("sb.program", sb)?;
/// let line = tests[0].to_json();
/// assert_eq!(tribunal_stress::parse_programs_json("sb.jsonl", &line)?, tests);
/// # Ok::<(), history::InputError>(())
/// ```
pub fn parse_programs_json(file: &str, text: &str) -> Result<Vec<Test>, InputError> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    numbered.map(|(number, line)| parse_line(file, number, line)).collect()
}

fn parse_line(file: &str, number: u64, line: &str) -> Result<Test, InputError> {
    let shape: ProgramShape = serde_json::from_str(line).map_err(|error| {
        // serde counts columns in bytes, from 1, and says where it gave up.
        let mut at = error.column().saturating_sub(1).min(line.len());
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        InputError::in_line(
            file,
            number,
            line,
            (at, 1),
            InputErrorKind::Json { reason: reason.into() },
        )
    })?;
    read(shape).map_err(|reason| {
        let kind = InputErrorKind::Other { reason: reason.into() };
        InputError::in_line(file, number, line, (0, line.len()), kind)
    })
}

impl From<&AddressLabel> for Label {
    fn from(label: &AddressLabel) -> Self {
        match label {
            AddressLabel::Number(number) => Label::Number(*number),
            AddressLabel::Name(name) => Label::Name(name.to_string()),
            AddressLabel::Bytes(range) => Label::Name(range.to_string()),
        }
    }
}

fn shape(program: &Program, condition: Option<&Condition>) -> ProgramShape {
    let label = |place: u32| Label::from(&program.places[place as usize].label);
    let place = |place: &Place| PlaceShape {
        addr: Label::from(&place.label),
        initial: place.initial,
        line: place.line,
        word: place.word,
    };
    let thread = |instructions: &Vec<Instruction>| {
        instructions.iter().map(|instruction| instruction_shape(instruction, label)).collect()
    };
    let exists = condition.map(|condition| {
        let read = |&(thread, index, value): &(u32, u32, u64)| ReadShape { thread, index, value };
        let last = |&(place, value): &(u32, u64)| FinalShape { addr: label(place), value };
        ConditionShape {
            reads: condition.reads.iter().map(read).collect(),
            finals: condition.finals.iter().map(last).collect(),
        }
    });
    ProgramShape {
        name: program.name.clone(),
        places: program.places.iter().map(place).collect(),
        threads: program.threads.iter().map(thread).collect(),
        exists,
    }
}

fn instruction_shape(instruction: &Instruction, label: impl Fn(u32) -> Label) -> InstructionShape {
    let empty = InstructionShape {
        addr: instruction.action.place().map(label),
        deps: instruction.depends_on.clone(),
        order: instruction.order.map(|order| order.spelling().to_owned()),
        ..InstructionShape::default()
    };
    let op = |op: &str| InstructionShape { op: op.to_owned(), ..empty };
    match instruction.action {
        Action::Load { .. } => op("read"),
        Action::Store { value, .. } => InstructionShape { value: Some(value), ..op("write") },
        Action::Swap { value, .. } => InstructionShape { value: Some(value), ..op("swap") },
        Action::FetchAdd { amount, .. } => InstructionShape { amount: Some(amount), ..op("add") },
        Action::CompareAndSwap { expected, new, .. } => {
            InstructionShape { expected: Some(expected), value: Some(new), ..op("cas") }
        }
        Action::Fence { before, after } => InstructionShape {
            before: Some(before.letters().to_owned()),
            after: Some(after.letters().to_owned()),
            ..op("fence")
        },
    }
}

/// The program that a shape stands for, or a sentence that says why there is none.
fn read(shape: ProgramShape) -> Result<Test, String> {
    let mut known: FxHashMap<Label, u32> = FxHashMap::default();
    let mut program = Program { name: title(&shape.name), ..Program::default() };
    for (index, place) in shape.places.into_iter().enumerate() {
        let label = match &place.addr {
            Label::Number(number) => AddressLabel::Number(*number),
            Label::Name(name) => AddressLabel::Name(name.as_str().into()),
        };
        let PlaceShape { addr, initial, line, word } = place;
        known.insert(addr, index as u32);
        program.places.push(Place { label, initial, line, word });
    }
    let find = |label: &Label| match (known.get(label), label) {
        (Some(&place), _) => Ok(place),
        (None, Label::Number(number)) => Err(format!("`places` has no {number}")),
        (None, Label::Name(name)) => Err(format!("`places` has no \"{name}\"")),
    };
    for (thread, shapes) in shape.threads.into_iter().enumerate() {
        let mut instructions = Vec::with_capacity(shapes.len());
        for (index, shape) in shapes.into_iter().enumerate() {
            let action = read_action(&shape, find)
                .map_err(|why| format!("instruction {index} of thread {thread}: {why}"))?;
            let order = shape
                .order
                .as_deref()
                .map(read_order)
                .transpose()
                .map_err(|why| format!("instruction {index} of thread {thread}: {why}"))?;
            instructions.push(Instruction { action, depends_on: shape.deps, order });
        }
        program.threads.push(instructions);
    }
    program.check().map_err(|error| error.to_string())?;
    let condition = shape.exists.map(|exists| read_condition(exists, find)).transpose()?;
    if condition.as_ref().is_some_and(|condition| !condition.fits(&program)) {
        return Err(
            "`exists` names a read or an address that the program does not have, or names one twice"
                .to_owned(),
        );
    }
    Ok(Test { program, condition })
}

fn read_order(word: &str) -> Result<AccessOrder, String> {
    AccessOrder::from_spelling(word)
        .ok_or_else(|| format!("unknown `order` \"{word}\"; use acq, acqpc, rel, acqrel or sc"))
}

fn read_action(
    shape: &InstructionShape,
    find: impl Fn(&Label) -> Result<u32, String>,
) -> Result<Action, String> {
    let op = shape.op.as_str();
    let fields: &[&str] = match op {
        "read" => &["addr"],
        "write" | "swap" => &["addr", "value"],
        "add" => &["addr", "amount"],
        "cas" => &["addr", "expected", "value"],
        "fence" => &["before", "after"],
        _ => {
            let ops = "`read`, `write`, `swap`, `add`, `cas` and `fence`";
            return Err(format!("unknown op `{op}`; use {ops}"));
        }
    };
    let given = [
        ("addr", shape.addr.is_some()),
        ("expected", shape.expected.is_some()),
        ("value", shape.value.is_some()),
        ("amount", shape.amount.is_some()),
        ("before", shape.before.is_some()),
        ("after", shape.after.is_some()),
    ];
    for (field, given) in given {
        match (fields.contains(&field), given) {
            (true, false) => return Err(format!("`{op}` needs `{field}`")),
            (false, true) => return Err(format!("`{op}` takes no `{field}`")),
            _ => {}
        }
    }
    let place = shape.addr.as_ref().map_or(Ok(0), find)?;
    let (value, amount) = (shape.value.unwrap_or_default(), shape.amount.unwrap_or_default());
    let expected = shape.expected.unwrap_or_default();
    Ok(match op {
        "read" => Action::Load { place },
        "write" => Action::Store { place, value },
        "swap" => Action::Swap { place, value },
        "add" => Action::FetchAdd { place, amount },
        "cas" => Action::CompareAndSwap { place, expected, new: value },
        _ => Action::Fence {
            before: read_kinds(shape.before.as_deref())?,
            after: read_kinds(shape.after.as_deref())?,
        },
    })
}

fn read_kinds(letters: Option<&str>) -> Result<Kinds, String> {
    match letters.unwrap_or_default() {
        "" => Ok(Kinds::NONE),
        "r" => Ok(Kinds::READS),
        "w" => Ok(Kinds::WRITES),
        "rw" | "wr" => Ok(Kinds::ALL),
        other => Err(format!("`{other}` is not \"r\", \"w\", \"rw\" or \"\"")),
    }
}

fn read_condition(
    shape: ConditionShape,
    find: impl Fn(&Label) -> Result<u32, String>,
) -> Result<Condition, String> {
    let read = |shape: ReadShape| (shape.thread, shape.index, shape.value);
    let mut reads: Vec<_> = shape.reads.into_iter().map(read).collect();
    let finals = shape.finals.into_iter().map(|shape| Ok((find(&shape.addr)?, shape.value)));
    let mut finals: Vec<_> = finals.collect::<Result<_, String>>()?;
    reads.sort_unstable();
    finals.sort_unstable();
    Ok(Condition { reads, finals })
}
