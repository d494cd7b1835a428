//! Programs in, from text.

use history::{AccessOrder, AddressLabel, InputError, InputErrorKind, MAX_THREADS};
use rustc_hash::{FxHashMap, FxHashSet};

use super::scan::{Scanner, Span};
use crate::condition::{Condition, Test};
use crate::program::{Action, Instruction, Place, Program, WORDS_PER_LINE, title};

const STATEMENT: &str = "a thread number, `program`, `init`, `place`, `threads`, `exists` or `end`";
const STATEMENT_HELP: &str =
    "a program is made of lines like `0: M[x] := 1` and `1: M[x] ?`, and ends with `end`";
const OPERATION_HELP: &str = "an instruction is a store `M[x] := 1`, a load `M[x] ?`, an atomic \
                              `<M[x] ?; M[x] := 1>`, `sync` or `fence w,r`";
const ACCESS_HELP: &str = "`M[x] ?` is a load, `M[x] := 1` is a store";
const ATOMIC_HELP: &str = "atomics are a swap `<M[x] ?; M[x] := 1>`, a fetch-and-add \
                           `<M[x] ?; M[x] += 1>` and a compare-and-swap `<M[x] ? 0; M[x] := 1>`";
const SUFFIX_HELP: &str = "an instruction may be followed by `as name`, `dep name,name` and, if it is \
                           an access, by `acq`, `acqpc`, `rel`, `acqrel` or `sc`";
const INIT_HELP: &str = "`init M[x] == 5` gives the initial value";
const PLACE_HELP: &str =
    "`place M[x] line 0 word 1` puts it into the second of the eight words of cache line 0";
const THREADS_HELP: &str = "`threads 4` says how many threads there are";
const EXISTS_HELP: &str = "`exists a == 0, M[x] == 2` is about what an instruction called `a` \
                           returns and what M[x] holds at the end";

/// Reads the programs of a text; the last `end` may be missing.
///
/// ```
/// let programs = tribunal_stress::parse_programs(
///     "sb.program",
///     "program SB
///      0: M[x] := 1
///      0: M[y] ? as a
///      1: M[y] := 1
///      1: M[x] ? as b
///      exists a == 0, b == 0
///      end",
/// )?;
/// assert_eq!(programs[0].program.name, "SB");
/// assert_eq!(programs[0].condition.as_ref().map(|c| c.reads.len()), Some(2));
/// # Ok::<(), history::InputError>(())
/// ```
pub fn parse_programs(file: &str, text: &str) -> Result<Vec<Test>, InputError> {
    let mut tests = Vec::new();
    let mut draft = Draft::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut last = (0, "");
    for (number, line) in (1..).zip(text.lines()) {
        last = (number, line);
        let mut scanner = Scanner::new(file, number, line);
        if scanner.peek().is_none() {
            continue;
        }
        if scanner.takes_word("end") {
            scanner.finish("the end of the line", STATEMENT_HELP)?;
            tests.push(std::mem::take(&mut draft).finish(&scanner)?);
        } else {
            draft.statement(&mut scanner)?;
        }
    }
    if draft.begun {
        tests.push(draft.finish(&Scanner::new(file, last.0, last.1))?);
    }
    Ok(tests)
}

/// A program being read.
#[derive(Default)]
struct Draft {
    begun: bool,
    program: Program,
    places: FxHashMap<AddressLabel, u32>,
    /// Where each place lies, as far as that was said.
    seats: Vec<Option<(u32, u8)>>,
    taken: FxHashSet<(u32, u8)>,
    initialised: Vec<bool>,
    names: FxHashMap<Box<str>, (u32, u32)>,
    condition: Option<Condition>,
}

impl Draft {
    fn statement(&mut self, scanner: &mut Scanner<'_>) -> Result<(), InputError> {
        self.begun = true;
        if scanner.peek().is_some_and(|c| c.is_ascii_digit()) {
            return self.instruction(scanner);
        }
        let start = scanner.place();
        if scanner.takes_word("program") {
            self.program.name = title(scanner.rest());
            return Ok(());
        }
        if scanner.takes_word("init") {
            self.initial(scanner, start)?;
        } else if scanner.takes_word("place") {
            self.place(scanner, start)?;
        } else if scanner.takes_word("threads") {
            let at = scanner.place();
            let threads = scanner.number("a number of threads", THREADS_HELP)?;
            self.has_threads(threads, scanner, at)?;
        } else if scanner.takes_word("exists") {
            self.exists(scanner, start)?;
        } else {
            return Err(scanner.unexpected(STATEMENT, STATEMENT_HELP));
        }
        scanner.finish("the end of the line", STATEMENT_HELP)
    }

    /// Makes room for so many threads.
    fn has_threads(
        &mut self,
        threads: u64,
        scanner: &Scanner<'_>,
        at: usize,
    ) -> Result<(), InputError> {
        let Some(threads) = usize::try_from(threads).ok().filter(|&t| t <= MAX_THREADS) else {
            let reason = format!("a program has at most {MAX_THREADS} threads");
            return Err(scanner.senseless(scanner.since(at), reason));
        };
        if self.program.threads.len() < threads {
            self.program.threads.resize(threads, Vec::new());
        }
        Ok(())
    }

    /// The place of a label, new or known.
    fn place_of(&mut self, label: AddressLabel) -> u32 {
        if let Some(&place) = self.places.get(&label) {
            return place;
        }
        let place = self.program.places.len() as u32;
        self.program.places.push(Place { label: label.clone(), initial: 0, line: 0, word: 0 });
        self.places.insert(label, place);
        self.seats.push(None);
        self.initialised.push(false);
        place
    }

    /// `init address == value`
    fn initial(&mut self, scanner: &mut Scanner<'_>, start: usize) -> Result<(), InputError> {
        let (label, _) = scanner.address()?;
        scanner.expect("==", INIT_HELP)?;
        let value = scanner.value()?;
        let place = self.place_of(label) as usize;
        if std::mem::replace(&mut self.initialised[place], true) {
            let kind = InputErrorKind::Other {
                reason: format!("a second `init` for M[{}]", self.program.places[place].label)
                    .into(),
            };
            return Err(scanner.error(scanner.since(start), kind));
        }
        self.program.places[place].initial = value;
        Ok(())
    }

    /// `place address line number word number`
    fn place(&mut self, scanner: &mut Scanner<'_>, start: usize) -> Result<(), InputError> {
        let (label, _) = scanner.address()?;
        scanner.expect("line", PLACE_HELP)?;
        let line = scanner.number("the number of a cache line", PLACE_HELP)?;
        scanner.expect("word", PLACE_HELP)?;
        let at = scanner.place();
        let word = scanner.number("the number of a word", PLACE_HELP)?;
        let span = scanner.since(start);
        let Ok(line) = u32::try_from(line) else {
            return Err(scanner.senseless(span, "lines are numbered from 0 to 2^32 - 1"));
        };
        let Some(word) = u8::try_from(word).ok().filter(|&word| word < WORDS_PER_LINE) else {
            return Err(scanner
                .senseless(scanner.since(at), "a cache line has the words 0 to 7")
                .with_help(Some(PLACE_HELP)));
        };
        if !self.taken.insert((line, word)) {
            return Err(scanner.senseless(span, "another address has this word"));
        }
        let place = self.place_of(label) as usize;
        if self.seats[place].replace((line, word)).is_some() {
            return Err(scanner.senseless(span, "a second `place` for this address"));
        }
        Ok(())
    }

    /// `thread : operation suffix*`
    fn instruction(&mut self, scanner: &mut Scanner<'_>) -> Result<(), InputError> {
        let start = scanner.place();
        let thread = scanner.number("a thread number", STATEMENT_HELP)?;
        self.has_threads(thread.saturating_add(1), scanner, start)?;
        scanner.expect(":", STATEMENT_HELP)?;
        let action = self.action(scanner)?;
        let thread = thread as usize;
        self.program.threads[thread].push(Instruction::plain(action));
        self.suffixes(scanner, thread)
    }

    fn action(&mut self, scanner: &mut Scanner<'_>) -> Result<Action, InputError> {
        if scanner.takes("<") {
            return self.atomic(scanner, ">");
        }
        if scanner.takes("{") {
            return self.atomic(scanner, "}");
        }
        if scanner.takes_word("sync") {
            return Ok(Action::SYNC);
        }
        if scanner.takes_word("fence") {
            let before = scanner.kinds()?;
            scanner.expect(",", "`fence w,r` keeps earlier writes before later reads")?;
            return Ok(Action::Fence { before, after: scanner.kinds()? });
        }
        if !scanner.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Err(scanner.unexpected("an instruction", OPERATION_HELP));
        }
        let (label, _) = scanner.address()?;
        let place = self.place_of(label);
        if scanner.takes("?") {
            return Ok(Action::Load { place });
        }
        if scanner.takes(":=") {
            return Ok(Action::Store { place, value: scanner.value()? });
        }
        Err(scanner.unexpected("`?` or `:=`", ACCESS_HELP))
    }

    fn atomic(&mut self, scanner: &mut Scanner<'_>, close: &str) -> Result<Action, InputError> {
        let (label, _) = scanner.address()?;
        let place = self.place_of(label.clone());
        scanner.expect("?", ATOMIC_HELP)?;
        let expected = match scanner.peek() {
            Some(c) if c.is_ascii_digit() => Some(scanner.value()?),
            _ => None,
        };
        scanner.expect(";", ATOMIC_HELP)?;
        let (written, span) = scanner.address()?;
        if written != label {
            return Err(scanner.senseless(span, "an atomic reads and writes one address"));
        }
        let action = match expected {
            None if scanner.takes("+=") => Action::FetchAdd { place, amount: scanner.value()? },
            None if scanner.takes(":=") => Action::Swap { place, value: scanner.value()? },
            None => return Err(scanner.unexpected("`:=` or `+=`", ATOMIC_HELP)),
            Some(expected) => {
                scanner.expect(":=", ATOMIC_HELP)?;
                Action::CompareAndSwap { place, expected, new: scanner.value()? }
            }
        };
        scanner.expect(close, ATOMIC_HELP)?;
        Ok(action)
    }

    fn suffixes(&mut self, scanner: &mut Scanner<'_>, thread: usize) -> Result<(), InputError> {
        let index = self.program.threads[thread].len() - 1;
        let (mut named, mut depends) = (false, false);
        loop {
            let start = scanner.place();
            if scanner.takes_word("as") {
                if std::mem::replace(&mut named, true) {
                    let kind = InputErrorKind::Repeated { what: "name" };
                    return Err(scanner.error(scanner.since(start), kind));
                }
                let (name, span) = scanner.name("a name")?;
                let known = self.names.insert(name.into(), (thread as u32, index as u32));
                if known.is_some() {
                    let reason = format!("the name `{name}` is taken");
                    return Err(scanner.senseless(span, reason));
                }
            } else if !depends && scanner.takes_word("dep") {
                depends = true;
                self.dependencies(scanner, thread, index)?;
            } else if let Some(order) =
                AccessOrder::ALL.into_iter().find(|order| scanner.takes_word(order.spelling()))
            {
                self.annotate(scanner, thread, index, order, start)?;
            } else {
                return scanner
                    .finish("`as`, `dep`, an annotation or the end of the line", SUFFIX_HELP);
            }
        }
    }

    fn annotate(
        &mut self,
        scanner: &Scanner<'_>,
        thread: usize,
        index: usize,
        order: AccessOrder,
        start: usize,
    ) -> Result<(), InputError> {
        let instruction = &mut self.program.threads[thread][index];
        if instruction.action.place().is_none() {
            return Err(scanner.senseless(scanner.since(start), "a fence is not annotated"));
        }
        if instruction.order.replace(order).is_some() {
            let kind = InputErrorKind::Repeated { what: "annotation" };
            return Err(scanner.error(scanner.since(start), kind));
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        scanner: &mut Scanner<'_>,
        thread: usize,
        index: usize,
    ) -> Result<(), InputError> {
        loop {
            let (name, span) = scanner.name("the name of an earlier instruction")?;
            let (on_thread, on) = self.reader(scanner, name, span)?;
            if on_thread as usize != thread || on as usize >= index {
                let reason = format!("`{name}` is not an earlier instruction of this thread");
                return Err(scanner.senseless(span, reason));
            }
            self.program.threads[thread][index].depends_on.push(on);
            if !scanner.takes(",") {
                return Ok(());
            }
        }
    }

    /// The instruction of a name, which must return something.
    fn reader(
        &self,
        scanner: &Scanner<'_>,
        name: &str,
        span: Span,
    ) -> Result<(u32, u32), InputError> {
        let Some(&(thread, index)) = self.names.get(name) else {
            let reason = format!("no instruction is called `{name}` so far");
            return Err(scanner.senseless(span, reason));
        };
        let instruction = &self.program.threads[thread as usize][index as usize];
        if !instruction.action.reads() {
            return Err(scanner
                .senseless(span, format!("`{name}` is a store or fence and returns no value")));
        }
        Ok((thread, index))
    }

    /// `exists observation, observation`
    fn exists(&mut self, scanner: &mut Scanner<'_>, start: usize) -> Result<(), InputError> {
        let mut condition = Condition::default();
        while scanner.peek().is_some() {
            let (label, span) = scanner.address()?;
            scanner.expect("==", EXISTS_HELP)?;
            let value = scanner.value()?;
            let bare = &scanner.line[span.0..span.0 + span.1];
            match &label {
                AddressLabel::Name(name) if &**name == bare => {
                    let (thread, index) = self.reader(scanner, name, span)?;
                    condition.reads.push((thread, index, value));
                }
                label => match self.places.get(label) {
                    Some(&place) => condition.finals.push((place, value)),
                    None => {
                        let reason = format!("no instruction accesses M[{label}]");
                        return Err(scanner.senseless(span, reason));
                    }
                },
            }
            if !scanner.takes(",") {
                break;
            }
        }
        condition.reads.sort_unstable();
        condition.finals.sort_unstable();
        if !condition.fits(&self.program) {
            let reason = "the outcome names one instruction or address twice";
            return Err(scanner.senseless(scanner.since(start), reason));
        }
        if self.condition.replace(condition).is_some() {
            return Err(scanner.senseless(scanner.since(start), "a second `exists`"));
        }
        Ok(())
    }

    /// The program, once its `end` has been seen: places without a given address get the
    /// first free cache lines.
    fn finish(mut self, scanner: &Scanner<'_>) -> Result<Test, InputError> {
        let mut taken: Vec<u32> = self.seats.iter().flatten().map(|&(line, _)| line).collect();
        taken.sort_unstable();
        taken.dedup();
        let mut free = (0..).filter(|line| taken.binary_search(line).is_err());
        for (place, seat) in self.program.places.iter_mut().zip(&self.seats) {
            let (line, word) = seat.unwrap_or_else(|| (free.next().unwrap_or_default(), 0));
            (place.line, place.word) = (line, word);
        }
        if let Err(error) = self.program.check() {
            return Err(scanner.senseless((0, scanner.line.len()), error.to_string()));
        }
        Ok(Test { program: self.program, condition: self.condition })
    }
}
