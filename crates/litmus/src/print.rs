//! A test as text, in the form in which it is read.

mod risc;

use crate::test::{
    Architecture, Binary, Constant, Fence, Flag, Instruction, Litmus, Memory, Operand, Operation,
    Register, Size, Thread, Type, Unary,
};

impl Litmus {
    /// The test as text. Reading it gives the same test.
    ///
    /// ```
    /// let text = "X86 SB
    /// {
    ///  x=0;
    ///  y=0;
    /// }
    ///  P0          | P1          ;
    ///  MOV [x],$1  | MOV [y],$1  ;
    ///  MOV EAX,[y] | MOV EAX,[x] ;
    /// exists (0:EAX=0 /\\ 1:EAX=0)
    /// ";
    /// assert_eq!(tribunal_litmus::parse(text).unwrap().to_text(), text);
    /// ```
    pub fn to_text(&self) -> String {
        let mut text = format!("{} {}\n", self.architecture, self.name);
        if let Some(description) = &self.description {
            text.push_str(&format!("\"{description}\"\n"));
        }
        for (key, value) in &self.metadata {
            text.push_str(&format!("{key}={value}\n"));
        }
        text.push_str(&self.initial_text());
        text.push_str(&self.program_text());
        if !self.shown.is_empty() {
            let shown: Vec<String> =
                self.shown.iter().map(|&place| format!("{};", self.place(place))).collect();
            text.push_str(&format!("locations [{}]\n", shown.join(" ")));
        }
        if let Some(filter) = &self.filter {
            text.push_str(&format!("filter {}\n", filter.spelled(self)));
        }
        text.push_str(&self.condition.spelled(self));
        text.push('\n');
        text
    }

    fn initial_text(&self) -> String {
        let mut text = String::from("{\n");
        for (number, location) in self.locations.iter().enumerate() {
            let kind = type_text(location.kind);
            if let Some(array) = &location.array {
                if array.first.0 as usize == number {
                    let elements = &self.locations[number..][..array.count as usize];
                    let values: Vec<String> =
                        elements.iter().map(|each| self.constant(each.initial)).collect();
                    let (name, count) = (&array.name, array.count);
                    text.push_str(&format!(" {kind}{name}[{count}]={{{}}};\n", values.join(",")));
                }
                continue;
            }
            let value = self.constant(location.initial);
            text.push_str(&format!(" {kind}{}={value};\n", location.name));
        }
        for (thread, code) in self.threads.iter().enumerate() {
            for initial in &code.registers {
                let kind = type_text(initial.kind);
                let register = self.architecture.register(initial.register);
                let value = self.constant(initial.value);
                text.push_str(&format!(" {kind}{thread}:{register}={value};\n"));
            }
        }
        text.push_str("}\n");
        text
    }

    /// The table, its columns as wide as they need to be.
    fn program_text(&self) -> String {
        let column = |(index, thread): (usize, &Thread)| {
            let mut cells = vec![format!("P{index}")];
            cells.extend(self.cells(thread));
            cells
        };
        let columns: Vec<Vec<String>> = self.threads.iter().enumerate().map(column).collect();
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for row in 0..rows {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| {
                    let width = column.iter().map(String::len).max().unwrap_or(0);
                    let cell = column.get(row).map_or("", String::as_str);
                    format!(" {cell:width$} ")
                })
                .collect();
            text.push_str(&cells.join("|"));
            text.push_str(";\n");
        }
        text
    }

    /// Labels and instructions, each in a cell of its own.
    fn cells(&self, thread: &Thread) -> Vec<String> {
        let mut cells = Vec::new();
        for index in 0..=thread.len() {
            let here = thread.labels.iter().filter(|label| label.1 as usize == index);
            cells.extend(here.map(|(label, _)| format!("{label}:")));
            cells.extend(thread.x86().get(index).map(|one| self.instruction(thread, one)));
            cells.extend(thread.risc().get(index).map(|one| self.risc_instruction(thread, one)));
        }
        cells
    }

    fn instruction(&self, thread: &Thread, instruction: &Instruction) -> String {
        let size = instruction.size;
        let lock = if instruction.locked { "lock " } else { "" };
        let one = |operand: Operand| self.operand(operand, size);
        let register = |register: Register| self.operand(Operand::Register(register), size);
        // Destination, then source, unless the source comes first.
        let two = |to: String, from: String| match self.architecture {
            Architecture::X86_64 => format!("{from},{to}"),
            _ => format!("{to},{from}"),
        };
        let (mnemonic, operands) = match instruction.operation {
            Operation::Move { to, from } => ("mov", two(one(to), one(from))),
            Operation::Binary { operator, to, from } => (binary(operator), two(one(to), one(from))),
            Operation::Unary { operator, to } => (unary(operator), one(to)),
            Operation::Compare { operator, left, right } => {
                let mnemonic = if operator == Binary::And { "test" } else { "cmp" };
                (mnemonic, two(one(left), one(right)))
            }
            Operation::Exchange { register: from, with } => {
                ("xchg", two(one(with), register(from)))
            }
            Operation::ExchangeAdd { register: from, to } => ("xadd", two(one(to), register(from))),
            Operation::CompareExchange { register: from, to } => {
                ("cmpxchg", two(one(to), register(from)))
            }
            Operation::Jump { when, target } => {
                let label = thread.labels.iter().find(|label| label.1 == target);
                let label = label.map_or("", |label| &label.0);
                return self.cased(jump(when)) + " " + label;
            }
            Operation::Fence(Fence::Full) => return self.cased("mfence"),
            Operation::Fence(Fence::Store) => return self.cased("sfence"),
            Operation::Fence(Fence::Load) => return self.cased("lfence"),
            Operation::Nothing => return self.cased("nop"),
            Operation::Return => return self.cased("ret"),
        };
        let suffix = match (self.architecture, size) {
            (Architecture::X86, Size::Long) => String::new(),
            _ => size.suffix().to_string(),
        };
        format!("{} {operands}", self.cased(&format!("{lock}{mnemonic}{suffix}")))
    }

    /// As the architecture's tests are mostly written.
    fn cased(&self, text: &str) -> String {
        match self.architecture {
            Architecture::X86 => text.to_ascii_uppercase(),
            _ => text.to_owned(),
        }
    }

    fn operand(&self, operand: Operand, size: Size) -> String {
        match operand {
            Operand::Immediate(Constant::Number(number)) => format!("${number}"),
            Operand::Immediate(constant) => format!("${}", self.constant(constant)),
            Operand::Register(register) => self.register(register, size),
            Operand::Memory(memory) => self.memory(memory),
        }
    }

    fn register(&self, register: Register, size: Size) -> String {
        match self.architecture {
            Architecture::X86 => register.name(size).to_ascii_uppercase(),
            _ => format!("%{}", register.name(size)),
        }
    }

    fn memory(&self, memory: Memory) -> String {
        let word = self.architecture.word();
        let (open, close) = match self.architecture {
            Architecture::X86 => ('[', ']'),
            _ => ('(', ')'),
        };
        let mut text = match memory.displacement {
            0 => String::new(),
            displacement => displacement.to_string(),
        };
        text.push(open);
        if let Some(id) = memory.location {
            text.push_str(self.location(id));
        } else if let Some(base) = memory.base {
            text.push_str(&self.register(base, word));
        }
        if let Some((index, scale)) = memory.index {
            text.push_str(&format!(",{},{scale}", self.register(index, word)));
        }
        text.push(close);
        text
    }
}

fn type_text(kind: Option<Type>) -> String {
    match kind {
        None => String::new(),
        Some(kind) if kind.pointer => "int *".to_owned(),
        Some(kind) => format!("{} ", kind.name()),
    }
}

fn binary(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "add",
        Binary::Subtract => "sub",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::ShiftLeft => "shl",
        Binary::ShiftRight => "shr",
        Binary::ShiftRightSigned => "sar",
    }
}

fn unary(operator: Unary) -> &'static str {
    match operator {
        Unary::Increment => "inc",
        Unary::Decrement => "dec",
        Unary::Negate => "neg",
        Unary::Not => "not",
    }
}

fn jump(when: Option<Flag>) -> &'static str {
    match when {
        None => "jmp",
        Some(Flag::Equal) => "je",
        Some(Flag::NotEqual) => "jne",
        Some(Flag::Less) => "jl",
        Some(Flag::LessOrEqual) => "jle",
        Some(Flag::Greater) => "jg",
        Some(Flag::GreaterOrEqual) => "jge",
        Some(Flag::Below) => "jb",
        Some(Flag::BelowOrEqual) => "jbe",
        Some(Flag::Above) => "ja",
        Some(Flag::AboveOrEqual) => "jae",
        Some(Flag::Sign) => "js",
        Some(Flag::NoSign) => "jns",
        Some(Flag::Overflow) => "jo",
        Some(Flag::NoOverflow) => "jno",
    }
}
