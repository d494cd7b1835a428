//! JSON Lines: one object per line, for producers that have a JSON library.
//!
//! ```text
//! {"thread":0,"op":"write","addr":"x","value":1}
//! {"thread":1,"op":"rmw","addr":"x","read":1,"value":2,"begin":10,"end":20,"name":"a"}
//! {"thread":1,"op":"fence","before":"w","after":"r"}      (`sync`, or neither: a full fence)
//! {"thread":1,"op":"read","addr":"0x10","value":0,"deps":["a"]}
//! {"thread":1,"op":"fence","fence":"dmb.ld"}
//! {"thread":1,"op":"read","addr":"y","value":0,"order":"acq","name":"l"}
//! {"thread":1,"op":"write","addr":"y","value":1,"pair":"l","deps":[{"on":"l","kind":"data"}]}
//! {"thread":1,"op":"read","addr":"0x1000","size":4,"value":0}   (4 bytes)
//! {"op":"init","addr":"x","value":5}  {"op":"final","addr":"x","value":2}
//! {"op":"order","addr":"x","values":[1,2,"a"]}
//! {"op":"end"}
//! ```
//!
//! A line is cut into its fields first, each a borrowed piece of the line, so that whatever is
//! wrong with a field is reported at its place. Lines are limited to 1 MiB.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{InputError, InputErrorKind};
use super::text::{axe_number, byte_range};
use super::window::Place;
use super::{Input, Piece, ReadOptions, Token};
use crate::annotation::{AccessOrder, DependencyKind, FenceName};
use crate::build_error::{BuildError, BuildErrorKind};
use crate::builder::{Builder, Draft, WriteName};
use crate::commit::Commit;
use crate::event::{AddressId, Kinds, Operation, Times, Value};
use crate::history::History;
use crate::lexicon::{self, is_name};

/// The longest line.
const LINE_LIMIT: usize = 1 << 20;

/// Declares names once: an enumeration, and its table of spellings.
macro_rules! names {
    ($(#[$doc:meta])* $kind:ident, $table:ident: $($item:ident $name:literal),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum $kind { $($item),* }

        const $table: &[($kind, &str)] = &[$(($kind::$item, $name)),*];
    };
}

names!(
    /// What may stand in a line.
    Field, FIELDS:
    Thread "thread", Op "op", Addr "addr", Value "value", Read "read", Before "before",
    After "after", Begin "begin", End "end", Name "name", Deps "deps", Values "values",
    Order "order", Pair "pair", Fence "fence", Size "size", Pc "pc", Insn "insn",
    Cycle "cycle"
);

names!(
    /// What a line may be about.
    Op, OPS:
    Write "write", Read "read", Rmw "rmw", Fence "fence", Sync "sync", Init "init",
    Final "final", Order "order", End "end"
);

const ANY_OP: &str = "`write`, `read`, `rmw`, `fence`, `sync`, `init`, `final`, `order` or `end`";

const ANY_FIELD: &str = "the fields are `thread`, `op`, `addr`, `value`, `read`, `before`, `after`, \
                         `begin`, `end`, `name`, `deps`, `values`, `order`, `pair`, `fence`, \
                         `size`, `pc`, `insn` and `cycle`";

impl Op {
    /// The fields it needs besides itself, and those it may have.
    fn fields(self) -> (&'static [Field], &'static [Field]) {
        use Field::{
            Addr, After, Before, Begin, Cycle, Deps, End, Fence, Insn, Name, Order, Pair, Pc, Read,
            Size, Thread, Value, Values,
        };
        const EVENT: &[Field] = &[Begin, End, Name, Deps, Pc, Insn, Cycle];
        const ACCESS: &[Field] = &[Begin, End, Name, Deps, Pc, Insn, Cycle, Order, Size];
        const WRITE: &[Field] = &[Begin, End, Name, Deps, Pc, Insn, Cycle, Order, Size, Pair];
        const FENCE: &[Field] = &[Before, After, Begin, End, Name, Deps, Pc, Insn, Cycle, Fence];
        match self {
            Op::Write => (&[Thread, Addr, Value], WRITE),
            Op::Read => (&[Thread, Addr, Value], ACCESS),
            Op::Rmw => (&[Thread, Addr, Read, Value], ACCESS),
            Op::Fence => (&[Thread], FENCE),
            Op::Sync => (&[Thread], EVENT),
            Op::Init | Op::Final => (&[Addr, Value], &[Size]),
            Op::Order => (&[Addr, Values], &[Size]),
            Op::End => (&[], &[]),
        }
    }
}

/// The fields of one line, unread.
#[derive(Default)]
struct Fields<'l> {
    values: [Option<&'l RawValue>; FIELDS.len()],
    /// The first key that is no field, and the first that stands twice.
    unknown: Option<Cow<'l, str>>,
    repeated: Option<(Field, &'l RawValue)>,
}

impl<'l> Fields<'l> {
    fn get(&self, field: Field) -> Option<&'l RawValue> {
        self.values[field as usize]
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        while let Some(Key(key)) = map.next_key()? {
            match FIELDS.iter().find(|&&(_, name)| name == key) {
                Some(&(field, _)) => {
                    let value = map.next_value()?;
                    if fields.values[field as usize].replace(value).is_some() {
                        fields.repeated.get_or_insert((field, value));
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                    fields.unknown.get_or_insert(key);
                }
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed from the line unless it is written with escapes.
struct Key<'l>(Cow<'l, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field name")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.into())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A dependency with its kind.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Dependency<'l> {
    #[serde(borrow)]
    on: Cow<'l, str>,
    #[serde(borrow)]
    kind: Cow<'l, str>,
}

/// Something wrong with a line: the bytes it concerns, and what.
struct Complaint {
    at: usize,
    length: usize,
    kind: InputErrorKind,
}

/// One line, and the way to point into it.
struct Line<'l> {
    text: &'l [u8],
    fields: Fields<'l>,
    number: u32,
    op: Op,
    options: ReadOptions,
}

/// Whether a line ended its trace.
#[derive(PartialEq, Eq)]
enum Progress {
    Goes,
    Ended,
}

impl<'l> Line<'l> {
    fn new(text: &'l [u8], number: u32, options: ReadOptions) -> Result<Self, Complaint> {
        let fields: Fields<'l> = serde_json::from_slice(text).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(&*reason, |(reason, _)| reason);
            let kind = InputErrorKind::Json { reason: reason.into() };
            Complaint { at: error.column().saturating_sub(1), length: 1, kind }
        })?;
        let mut line = Line { text, fields, number, op: Op::End, options };
        if let Some(key) = &line.fields.unknown {
            let kind = InputErrorKind::UnknownField { field: key.chars().take(40).collect() };
            return Err(line.complain_about(key, kind));
        }
        if let Some((field, value)) = line.fields.repeated {
            let reason = format!("the field `{}` is given twice", FIELDS[field as usize].1).into();
            return Err(line.complain(value, InputErrorKind::Json { reason }));
        }
        line.op = line.known_op()?;
        Ok(line)
    }

    /// The operation, with every field it needs and none that it does not take.
    fn known_op(&self) -> Result<Op, Complaint> {
        let Some(raw) = self.fields.get(Field::Op) else {
            return Err(self.complain_at_all(InputErrorKind::MissingOperation));
        };
        let name = self.string(raw, "the name of an operation")?;
        let Some(&(op, operation)) = OPS.iter().find(|(_, spelling)| *spelling == name) else {
            return Err(self.unexpected(raw, ANY_OP));
        };
        let (needs, takes) = op.fields();
        for &(field, name) in FIELDS.iter().filter(|f| f.0 != Field::Op) {
            match self.fields.get(field) {
                None if needs.contains(&field) => {
                    let kind = InputErrorKind::MissingField { operation, field: name };
                    return Err(self.complain_at_all(kind));
                }
                Some(value) if !needs.contains(&field) && !takes.contains(&field) => {
                    let kind = InputErrorKind::ForeignField { operation, field: name };
                    return Err(self.complain(value, kind));
                }
                _ => {}
            }
        }
        Ok(op)
    }

    /// Adds the event of the line to the builder.
    fn say(&self, builder: &mut Builder) -> Result<Progress, Complaint> {
        match self.op {
            Op::End => return Ok(Progress::Ended),
            Op::Init => self.say_of_address(builder, Builder::initial)?,
            Op::Final => self.say_of_address(builder, Builder::final_value)?,
            Op::Order => self.order(builder)?,
            Op::Sync => self.event(builder, Operation::SYNC)?,
            Op::Fence if self.fields.get(Field::Fence).is_some() => self.named_fence(builder)?,
            Op::Fence => {
                let before = self.kinds(Field::Before)?;
                let after = self.kinds(Field::After)?;
                self.event(builder, Operation::Fence { before, after })?;
            }
            Op::Write | Op::Read | Op::Rmw => self.access(builder)?,
        }
        Ok(Progress::Goes)
    }

    fn say_of_address(
        &self,
        builder: &mut Builder,
        say: impl FnOnce(&mut Builder, AddressId, Value, u32) -> Result<(), BuildError>,
    ) -> Result<(), Complaint> {
        let address = self.address(builder)?;
        let value = self.number_of(Field::Value)?;
        say(builder, address, value, self.number).map_err(|error| self.senseless_at_all(error.kind))
    }

    fn access(&self, builder: &mut Builder) -> Result<(), Complaint> {
        let address = self.address(builder)?;
        let wide = builder.is_wide(address);
        let (value, upper) = self.value_of(Field::Value, wide)?;
        let (operation, uppers) = match self.op {
            Op::Write => (Operation::Write { address, value }, [0, upper]),
            Op::Rmw => {
                let (read, upper_read) = self.value_of(Field::Read, wide)?;
                (Operation::ReadModifyWrite { address, read, write: value }, [upper_read, upper])
            }
            _ => (Operation::Read { address, value }, [upper, 0]),
        };
        let event = self.start_event(builder, operation)?;
        let said = builder.upper_bytes(event, uppers[0], uppers[1]);
        said.map_err(|error| self.senseless(Field::Value, error.kind))?;
        self.attributes(builder, event)
    }

    fn event(&self, builder: &mut Builder, operation: Operation) -> Result<(), Complaint> {
        let event = self.start_event(builder, operation)?;
        self.attributes(builder, event)
    }

    fn start_event(&self, builder: &mut Builder, operation: Operation) -> Result<Draft, Complaint> {
        let thread = self.number_of(Field::Thread)?;
        builder.event(thread, operation, self.number).map_err(|error| {
            let field = match error.kind {
                BuildErrorKind::ValueTooWide { .. } => Field::Value,
                _ => Field::Thread,
            };
            self.senseless(field, error.kind)
        })
    }

    /// A value, and what it has beyond 64 bits. Where it may, it may be a string, too: not every
    /// JSON library writes such numbers.
    fn value_of(&self, field: Field, wide: bool) -> Result<(Value, Value), Complaint> {
        const WIDE: &str = "a number below 2^128, or a string of it";
        if !wide {
            return Ok((self.number_of(field)?, 0));
        }
        let raw = self.field(field);
        let value: Option<u128> = if raw.get().starts_with('"') {
            let text = self.string(raw, WIDE)?;
            match text.strip_prefix("0x") {
                Some(digits) if digits.starts_with('+') => None,
                Some(digits) => u128::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            }
        } else {
            serde_json::from_str(raw.get()).ok()
        };
        let value = value.ok_or_else(|| self.unexpected(raw, WIDE))?;
        Ok((value as Value, (value >> 64) as Value))
    }

    /// A fence by its name, which says what it orders.
    fn named_fence(&self, builder: &mut Builder) -> Result<(), Complaint> {
        const NAMES: &str = "the name of a fence, such as `fence.tso`, `dmb.ld` or `isb`";
        if let Some(raw) = self.fields.get(Field::Before).or(self.fields.get(Field::After)) {
            let kind = InputErrorKind::ForeignField { operation: "a named fence", field: "before" };
            return Err(self.complain(raw, kind));
        }
        let raw = self.field(Field::Fence);
        let name = FenceName::from_spelling(&self.string(raw, NAMES)?);
        let name = name.ok_or_else(|| self.unexpected(raw, NAMES))?;
        let event = builder
            .fence(self.number_of(Field::Thread)?, name, self.number)
            .map_err(|error| self.senseless(Field::Thread, error.kind))?;
        self.attributes(builder, event)
    }

    /// What else a line says about an event.
    fn attributes(&self, builder: &mut Builder, event: Draft) -> Result<(), Complaint> {
        self.times(builder, event)?;
        self.commit(builder, event)?;
        if let Some(raw) = self.fields.get(Field::Name) {
            let name = self.name(raw)?;
            builder.name(event, &name).map_err(|error| self.senseless(Field::Name, error.kind))?;
        }
        for raw in self.list(Field::Deps)? {
            let (name, kind) = self.dependency(raw)?;
            builder
                .dependency_of_kind(event, &name, kind)
                .map_err(|error| self.complain(raw, InputErrorKind::Senseless(error.kind)))?;
        }
        if let Some(raw) = self.fields.get(Field::Order) {
            const ORDERS: &str = "`acq`, `acqpc`, `rel`, `acqrel` or `sc`";
            let order = AccessOrder::from_spelling(&self.string(raw, ORDERS)?);
            let order = order.ok_or_else(|| self.unexpected(raw, ORDERS))?;
            let said = builder.annotate(event, order);
            said.map_err(|error| self.senseless(Field::Order, error.kind))?;
        }
        if let Some(raw) = self.fields.get(Field::Pair) {
            let said = builder.pair(event, &self.name(raw)?);
            said.map_err(|error| self.senseless(Field::Pair, error.kind))?;
        }
        Ok(())
    }

    /// A name, or an object with a name and a kind.
    fn dependency(&self, raw: &'l RawValue) -> Result<(Cow<'l, str>, DependencyKind), Complaint> {
        const FORM: &str = "a name or {\"on\":NAME,\"kind\":\"addr\"|\"data\"|\"ctrl\"}";
        if !raw.get().starts_with('{') {
            return Ok((self.name(raw)?, DependencyKind::Address));
        }
        let object: Result<Dependency<'l>, _> = serde_json::from_str(raw.get());
        let object = object.map_err(|_| self.unexpected(raw, FORM))?;
        let kind = DependencyKind::from_spelling(&object.kind);
        let kind = kind.ok_or_else(|| self.unexpected(raw, FORM))?;
        if is_name(&object.on) { Ok((object.on, kind)) } else { Err(self.unexpected(raw, FORM)) }
    }

    fn times(&self, builder: &mut Builder, event: Draft) -> Result<(), Complaint> {
        let time = |field| self.fields.get(field).map(|_| self.number_of(field)).transpose();
        let times = Times { begin: time(Field::Begin)?, end: time(Field::End)? };
        if times == Times::default() {
            return Ok(());
        }
        builder.times(event, times).map_err(|error| self.senseless(Field::End, error.kind))
    }

    /// Where an event comes from.
    fn commit(&self, builder: &mut Builder, event: Draft) -> Result<(), Complaint> {
        const TEXT: &str = "the text of an instruction, in one line";
        let number = |field| self.fields.get(field).map(|_| self.number_of(field)).transpose();
        let (pc, cycle) = (number(Field::Pc)?, number(Field::Cycle)?);
        let raw = self.fields.get(Field::Insn);
        let text = raw.map(|raw| self.string(raw, TEXT)).transpose()?;
        if let (Some(text), Some(raw)) = (&text, raw)
            && text.chars().any(char::is_control)
        {
            return Err(self.unexpected(raw, TEXT));
        }
        let commit = Commit { pc, instruction: text.as_deref(), cycle };
        if commit == (Commit { pc: None, instruction: None, cycle: None }) {
            return Ok(());
        }
        builder.committed(event, commit).map_err(|error| self.senseless(Field::Thread, error.kind))
    }

    fn order(&self, builder: &mut Builder) -> Result<(), Complaint> {
        let address = self.address(builder)?;
        let mut writes = Vec::new();
        for raw in self.list(Field::Values)? {
            let write = if raw.get().starts_with('"') {
                WriteName::Name(self.name(raw)?.into())
            } else {
                WriteName::Value(self.number(raw, "a value or the name of a write")?)
            };
            builder
                .charge_write_name(&write, self.number)
                .map_err(|error| self.senseless(Field::Values, error.kind))?;
            writes.push(write);
        }
        builder.order(address, writes, self.number);
        Ok(())
    }

    /// A number, a string of digits, a string that starts with 0x, or a name.
    fn address(&self, builder: &mut Builder) -> Result<AddressId, Complaint> {
        const ADDRESS: &str = "an address: a number or a name";
        let raw = self.field(Field::Addr);
        if !raw.get().starts_with('"') {
            return self.numbered(builder, self.number(raw, ADDRESS)?);
        }
        let text = self.string(raw, ADDRESS)?;
        let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) if digits.starts_with('+') => None,
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if self.options.axe_addresses && axe_number(&text).is_some() => axe_number(&text),
            None if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok(),
            None if is_name(&text) => match self.fields.get(Field::Size) {
                None => return Ok(builder.address_named(&text)),
                Some(_) => {
                    return Err(self.unexpected(raw, "a number, since there is a size in bytes"));
                }
            },
            None => None,
        };
        match number {
            Some(number) => self.numbered(builder, number),
            None => Err(self.unexpected(raw, ADDRESS)),
        }
    }

    /// An address by its number, and its size if there is one.
    fn numbered(&self, builder: &mut Builder, number: u64) -> Result<AddressId, Complaint> {
        if self.fields.get(Field::Size).is_none() {
            return Ok(builder.address_numbered(number));
        }
        let range = byte_range(number, self.number_of(Field::Size)?);
        let range = range.map_err(|kind| self.senseless(Field::Size, kind))?;
        Ok(builder.address_of_bytes(range))
    }

    fn kinds(&self, field: Field) -> Result<Kinds, Complaint> {
        const KINDS: &str = "`r`, `w` or `rw`";
        let Some(raw) = self.fields.get(field) else { return Ok(Kinds::ALL) };
        match &*self.string(raw, KINDS)? {
            "" => Ok(Kinds::NONE),
            word => lexicon::kinds(word.as_bytes()).ok_or_else(|| self.unexpected(raw, KINDS)),
        }
    }

    fn number_of(&self, field: Field) -> Result<u64, Complaint> {
        self.number(self.field(field), "a number from 0 to 2^64 - 1")
    }

    fn number(&self, raw: &RawValue, expected: &'static str) -> Result<u64, Complaint> {
        let text = raw.get();
        if text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(text.bytes().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
        }
        serde_json::from_str(text).map_err(|_| self.unexpected(raw, expected))
    }

    fn name(&self, raw: &'l RawValue) -> Result<Cow<'l, str>, Complaint> {
        let name = self.string(raw, "a name")?;
        if is_name(&name) { Ok(name) } else { Err(self.unexpected(raw, "a name")) }
    }

    fn string(&self, raw: &'l RawValue, expected: &'static str) -> Result<Cow<'l, str>, Complaint> {
        let quoted = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        if let Some(text) = quoted.filter(|text| !text.contains('\\')) {
            return Ok(Cow::Borrowed(text));
        }
        let text: Result<Key<'l>, _> = serde_json::from_str(raw.get());
        text.map(|key| key.0).map_err(|_| self.unexpected(raw, expected))
    }

    fn list(&self, field: Field) -> Result<Vec<&'l RawValue>, Complaint> {
        let Some(raw) = self.fields.get(field) else { return Ok(Vec::new()) };
        serde_json::from_str(raw.get()).map_err(|_| self.unexpected(raw, "a list"))
    }

    /// A field that the table of operations says is there.
    fn field(&self, field: Field) -> &'l RawValue {
        self.fields.get(field).unwrap_or(RawValue::NULL)
    }

    fn unexpected(&self, raw: &RawValue, expected: &'static str) -> Complaint {
        let mut found: String = raw.get().chars().take(40).collect();
        if found.len() < raw.get().len() {
            found.push('…');
        }
        let found = format!("`{found}`").into();
        self.complain(raw, InputErrorKind::Unexpected { expected: expected.into(), found })
    }

    fn senseless(&self, field: Field, kind: BuildErrorKind) -> Complaint {
        match self.fields.get(field) {
            Some(raw) => self.complain(raw, InputErrorKind::Senseless(kind)),
            None => self.senseless_at_all(kind),
        }
    }

    fn senseless_at_all(&self, kind: BuildErrorKind) -> Complaint {
        self.complain_at_all(InputErrorKind::Senseless(kind))
    }

    fn complain(&self, raw: &RawValue, kind: InputErrorKind) -> Complaint {
        self.complain_about(raw.get(), kind)
    }

    /// A complaint about a piece of the line: where the piece is in memory says where it is in the
    /// line. A piece that had to be copied, to resolve its escapes, lies elsewhere.
    fn complain_about(&self, piece: &str, kind: InputErrorKind) -> Complaint {
        let at = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match at <= self.text.len() {
            true => Complaint { at, length: piece.len(), kind },
            false => self.complain_at_all(kind),
        }
    }

    /// A complaint about the whole line.
    fn complain_at_all(&self, kind: InputErrorKind) -> Complaint {
        let at = self.text.len() - self.text.trim_ascii_start().len();
        Complaint { at, length: self.text.trim_ascii().len(), kind }
    }
}

/// Reads traces as JSON Lines.
pub(super) struct JsonLinesReader<R> {
    input: Input<R>,
    /// Whether an `end` has been seen; then a blank rest is no trace.
    ended: bool,
    /// Whether the end of the trace under way has been seen.
    is_over: bool,
}

impl<R: Read> JsonLinesReader<R> {
    pub(super) fn new(input: Input<R>) -> Self {
        Self { input, ended: false, is_over: false }
    }

    pub(super) fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    pub(super) fn next_trace(&mut self) -> Result<Option<History>, InputError> {
        let mut builder = self.input.builder();
        match self.lines(&mut builder, false)? {
            Piece::None => Ok(None),
            Piece::Some | Piece::Last => self.input.finish(builder).map(Some),
        }
    }

    pub(super) fn next_piece(&mut self, builder: &mut Builder) -> Result<Piece, InputError> {
        self.lines(builder, true)
    }

    /// Reads to the end of the trace, or as far as a piece goes.
    fn lines(&mut self, builder: &mut Builder, pieces: bool) -> Result<Piece, InputError> {
        let options = self.input.options;
        let mut empty = builder.is_empty();
        self.is_over = false;
        self.input.window.skip_byte_order_mark();
        while let Some(line) = self.input.window.take_line(LINE_LIMIT) {
            let (place, text) = match line {
                Ok(line) => line,
                Err(place) => {
                    let kind = InputErrorKind::LineTooLong { limit: LINE_LIMIT };
                    return Err(self.input.error(Token { place, length: 1 }, kind));
                }
            };
            if text.trim_ascii().is_empty() {
                continue;
            }
            let said =
                Line::new(text, place.short_line(), options).and_then(|line| line.say(builder));
            match said {
                Ok(Progress::Goes) => empty = false,
                Ok(Progress::Ended) => {
                    (self.ended, self.is_over) = (true, true);
                    return Ok(Piece::Last);
                }
                Err(complaint) => return Err(self.complaint(place, complaint)),
            }
            if pieces && builder.has_events() && self.input.window.lacks_line() {
                return Ok(Piece::Some);
            }
        }
        if let Some(failure) = self.input.failure() {
            return Err(failure);
        }
        if empty && self.ended {
            return Ok(Piece::None);
        }
        (self.ended, self.is_over) = (true, true);
        Ok(Piece::Last)
    }

    /// Skips to behind the next line that ends a trace.
    pub(super) fn skip_trace(&mut self) -> bool {
        let options = self.input.options;
        self.ended = true;
        while !self.is_over {
            match self.input.window.take_line(LINE_LIMIT) {
                None => break,
                Some(Ok((place, text))) => {
                    let line = Line::new(text, place.short_line(), options);
                    self.is_over = line.is_ok_and(|line| line.op == Op::End);
                }
                Some(Err(_)) => self.input.window.skip_rest_of_line(),
            }
        }
        self.is_over
    }

    #[cold]
    fn complaint(&mut self, line: Place, complaint: Complaint) -> InputError {
        // What looks broken may only have been cut short.
        if let Some(failure) = self.input.failure() {
            return failure;
        }
        let place = Place { offset: line.offset + complaint.at as u64, ..line };
        let help = match complaint.kind {
            InputErrorKind::UnknownField { .. } => Some(ANY_FIELD),
            _ => None,
        };
        self.input.error(Token { place, length: complaint.length }, complaint.kind).with_help(help)
    }
}
