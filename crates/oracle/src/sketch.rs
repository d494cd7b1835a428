//! A history while it is being made: easy to change, and not yet checked. [`Sketch::build`] turns
//! one into a [`History`], [`Sketch::of`] turns one back.

use history::{
    AddressId, AddressLabel, BuildError, Builder, EventId, History, Operation, Source, ThinAir,
    Times, Value, WriteName,
};

/// Everything a trace says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sketch {
    /// Addresses by number; those that nothing mentions do not get into the history.
    pub(crate) addresses: Vec<SketchAddress>,
    pub(crate) threads: Vec<SketchThread>,
}

/// What a trace says about an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SketchAddress {
    pub(crate) label: AddressLabel,
    pub(crate) initial: Option<Value>,
    pub(crate) end: Option<Value>,
    /// The `order` lines; `None` is the initial write.
    pub(crate) orders: Vec<Vec<Option<Place>>>,
}

/// What a trace says about a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SketchThread {
    pub(crate) label: u64,
    pub(crate) steps: Vec<Step>,
}

/// What a trace says about an event. The address of its operation is the number of a
/// [`SketchAddress`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    pub(crate) times: Times,
    /// The earlier reads of the thread that it depends on.
    pub(crate) depends_on: Vec<usize>,
}

/// An event by its thread and its place in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub(crate) thread: usize,
    pub(crate) index: usize,
}

impl Step {
    pub(crate) fn new(operation: Operation) -> Self {
        Self { operation, times: Times::default(), depends_on: Vec::new() }
    }
}

impl SketchAddress {
    /// The address with this number, called x, y, z, a, …
    pub(crate) fn numbered(number: usize) -> Self {
        let letter = char::from(b"xyzabcdefghijklmnopqrstuvw"[number % 26]);
        SketchAddress {
            label: AddressLabel::Name(letter.to_string().into()),
            initial: None,
            end: None,
            orders: Vec::new(),
        }
    }

    pub(crate) fn initial_value(&self) -> Value {
        self.initial.unwrap_or(0)
    }
}

/// The same operation on the same address by another number.
fn readdressed(operation: Operation, to: impl FnOnce(AddressId) -> AddressId) -> Operation {
    match operation {
        Operation::Read { address, value } => Operation::Read { address: to(address), value },
        Operation::Write { address, value } => Operation::Write { address: to(address), value },
        Operation::ReadModifyWrite { address, read, write } => {
            Operation::ReadModifyWrite { address: to(address), read, write }
        }
        fence @ Operation::Fence { .. } => fence,
    }
}

/// The same operation returning another value.
pub(crate) fn returning(operation: Operation, value: Value) -> Operation {
    match operation {
        Operation::Read { address, .. } => Operation::Read { address, value },
        Operation::ReadModifyWrite { address, write, .. } => {
            Operation::ReadModifyWrite { address, read: value, write }
        }
        other @ (Operation::Write { .. } | Operation::Fence { .. }) => other,
    }
}

impl Sketch {
    /// Every event's place, thread by thread.
    pub(crate) fn places(&self) -> Vec<Place> {
        let places_of = |(thread, t): (usize, &SketchThread)| {
            (0..t.steps.len()).map(move |index| Place { thread, index }).collect::<Vec<_>>()
        };
        self.threads.iter().enumerate().flat_map(places_of).collect()
    }

    pub(crate) fn step(&self, place: Place) -> &Step {
        &self.threads[place.thread].steps[place.index]
    }

    pub(crate) fn step_mut(&mut self, place: Place) -> &mut Step {
        &mut self.threads[place.thread].steps[place.index]
    }

    /// The writes of an address, and what they write.
    pub(crate) fn writes(&self, address: usize) -> Vec<(Place, Value)> {
        let mut writes = Vec::new();
        for place in self.places() {
            let operation = self.step(place).operation;
            if let (Some(to), Some(value)) = (operation.address(), operation.value_written())
                && to.index() == address
            {
                writes.push((place, value));
            }
        }
        writes
    }

    /// Every value an address ever has, the initial one first.
    pub(crate) fn values(&self, address: usize) -> Vec<Value> {
        let mut values = vec![self.addresses[address].initial_value()];
        values.extend(self.writes(address).into_iter().map(|(_, value)| value));
        values
    }

    /// The history that says all this.
    pub(crate) fn build(&self, thin_air: ThinAir) -> Result<History, BuildError> {
        let mut builder = Builder::new();
        self.build_initials(&mut builder)?;
        for (thread, t) in self.threads.iter().enumerate() {
            for index in 0..t.steps.len() {
                self.build_event(&mut builder, Place { thread, index })?;
            }
        }
        for (number, address) in self.addresses.iter().enumerate() {
            if let Some(value) = address.end {
                let id = builder.address(&address.label);
                builder.final_value(id, value, 0)?;
            }
            for chain in &address.orders {
                let id = builder.address(&address.label);
                builder.order(id, chain.iter().map(|&w| self.write_name(number, w)).collect(), 0);
            }
        }
        builder.finish(thin_air)
    }

    fn build_initials(&self, builder: &mut Builder) -> Result<(), BuildError> {
        for address in &self.addresses {
            if let Some(value) = address.initial {
                let id = builder.address(&address.label);
                builder.initial(id, value, 0)?;
            }
        }
        Ok(())
    }

    fn build_event(&self, builder: &mut Builder, place: Place) -> Result<(), BuildError> {
        let step = self.step(place);
        let operation = readdressed(step.operation, |address| {
            builder.address(&self.addresses[address.index()].label)
        });
        let draft = builder.event(self.threads[place.thread].label, operation, 0)?;
        if step.times != Times::default() {
            builder.times(draft, step.times)?;
        }
        if self.needs_name(place) {
            builder.name(draft, &self.name(place))?;
        }
        for &index in &step.depends_on {
            builder.dependency(draft, &self.name(Place { thread: place.thread, index }))?;
        }
        Ok(())
    }

    fn name(&self, place: Place) -> String {
        let number: usize =
            self.threads[..place.thread].iter().map(|t| t.steps.len()).sum::<usize>() + place.index;
        format!("e{number}")
    }

    fn needs_name(&self, place: Place) -> bool {
        let is_depended_on = self.threads[place.thread]
            .steps
            .iter()
            .any(|step| step.depends_on.contains(&place.index));
        let is_named_in_order = self.addresses.iter().enumerate().any(|(number, address)| {
            address.orders.iter().flatten().any(|&write| {
                write == Some(place) && matches!(self.write_name(number, write), WriteName::Name(_))
            })
        });
        is_depended_on || is_named_in_order
    }

    /// How an `order` line calls a write: by its value where nobody else wrote that.
    fn write_name(&self, address: usize, write: Option<Place>) -> WriteName {
        let initial = self.addresses[address].initial_value();
        let Some(place) = write else { return WriteName::Value(initial) };
        match self.step(place).operation.value_written() {
            Some(value) if self.values(address).iter().filter(|&&v| v == value).count() == 1 => {
                WriteName::Value(value)
            }
            _ => WriteName::Name(self.name(place).into()),
        }
    }

    /// A sketch of a history.
    pub(crate) fn of(history: &History) -> Self {
        let place = |event: EventId| Place {
            thread: history.event(event).thread.index(),
            index: history.event(event).index as usize,
        };
        let threads = history.threads().map(|thread| SketchThread {
            label: history.thread_label(thread),
            steps: history
                .thread_events(thread)
                .map(|event| Step {
                    operation: history.event(event).operation,
                    times: history.times(event),
                    depends_on: history.dependencies_of(event).map(|r| place(r).index).collect(),
                })
                .collect(),
        });
        let addresses = history.address_ids().map(|id| SketchAddress {
            label: history.address(id).label.clone(),
            initial: history.address(id).init_line.map(|_| history.address(id).initial),
            end: history.finals().iter().find(|f| f.address == id).map(|f| f.value),
            orders: history
                .orders()
                .iter()
                .filter(|chain| chain.address == id)
                .map(|chain| {
                    let write = |source: &Source| match *source {
                        Source::Initial => None,
                        Source::Write(event) => Some(place(event)),
                    };
                    chain.writes.iter().map(write).collect()
                })
                .collect(),
        });
        Sketch { addresses: addresses.collect(), threads: threads.collect() }
    }
}
