//! Sets and relations of at most 32 events, and the operators of cat on them.

/// The most events of an execution: initial writes and both halves of atomics count.
const MOST: usize = 32;

/// A set of ordered pairs: row `a` has every `b` with (a, b) in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Relation {
    size: usize,
    rows: [u32; MOST],
}

/// What an expression stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// Of no element or pair, whichever is asked for.
    Nothing,
    Set(u32),
    Relation(Relation),
}

impl Relation {
    pub(super) fn empty(size: usize) -> Self {
        assert!(size <= MOST, "at most {MOST} events, not {size}");
        Relation { size, rows: [0; MOST] }
    }

    pub(super) fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut relation = Self::empty(size);
        for a in 0..size {
            (0..size).filter(|&b| holds(a, b)).for_each(|b| relation.add(a, b));
        }
        relation
    }

    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    fn rows_by(&self, row: impl Fn(usize) -> u32) -> Self {
        let mut relation = Self::empty(self.size);
        (0..self.size).for_each(|a| relation.rows[a] = row(a));
        relation
    }

    fn then(&self, other: &Self) -> Self {
        self.rows_by(|a| members(self.rows[a]).fold(0, |row, b| row | other.rows[b]))
    }

    fn inverse(&self) -> Self {
        let mut relation = Self::empty(self.size);
        for a in 0..self.size {
            members(self.rows[a]).for_each(|b| relation.add(b, a));
        }
        relation
    }

    /// One step or more, by Warshall.
    fn closure(&self) -> Self {
        let mut closed = *self;
        for middle in 0..self.size {
            for a in 0..self.size {
                if closed.rows[a] >> middle & 1 == 1 {
                    closed.rows[a] |= closed.rows[middle];
                }
            }
        }
        closed
    }

    fn or_same(&self) -> Self {
        self.rows_by(|a| self.rows[a] | 1 << a)
    }

    pub(super) fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|a| self.rows[a] >> a & 1 == 0)
    }

    pub(super) fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}

fn members(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// All events.
pub(super) fn everything(size: usize) -> u32 {
    if size == MOST { u32::MAX } else { (1 << size) - 1 }
}

impl Value {
    fn set(self) -> u32 {
        match self {
            Value::Nothing => 0,
            Value::Set(set) => set,
            Value::Relation(_) => panic!("a relation where a set is asked for"),
        }
    }

    pub(super) fn relation(self, size: usize) -> Relation {
        match self {
            Value::Nothing => Relation::empty(size),
            Value::Relation(relation) => relation,
            Value::Set(_) => panic!("a set where a relation is asked for"),
        }
    }

    pub(super) fn is_empty(self) -> bool {
        match self {
            Value::Nothing => true,
            Value::Set(set) => set == 0,
            Value::Relation(relation) => relation.rows.iter().all(|&row| row == 0),
        }
    }

    /// `[S]`
    pub(super) fn identity(self, size: usize) -> Value {
        let set = self.set();
        Value::Relation(Relation::empty(size).rows_by(|a| set & 1 << a))
    }

    /// `domain(r)`, or of the inverse `range(r)`.
    pub(super) fn domain(self, size: usize) -> Value {
        let relation = self.relation(size);
        let is_in = |&a: &usize| relation.rows[a] != 0;
        Value::Set((0..size).filter(is_in).fold(0, |set, a| set | 1 << a))
    }

    /// `~`, `^-1` (as `-`), `+`, `*`, `?`.
    pub(super) fn unary(self, operator: char, size: usize) -> Value {
        let all = everything(size);
        if let (Value::Set(set), '~') = (self, operator) {
            return Value::Set(all & !set);
        }
        let relation = self.relation(size);
        Value::Relation(match operator {
            '~' => relation.rows_by(|a| all & !relation.rows[a]),
            '-' => relation.inverse(),
            '+' => relation.closure(),
            '*' => relation.closure().or_same(),
            '?' => relation.or_same(),
            _ => panic!("no operator {operator}"),
        })
    }

    /// `|`, `&`, `\`, `;`, `*`.
    pub(super) fn binary(self, operator: char, other: Value, size: usize) -> Value {
        let bits = |a: u32, b: u32| match operator {
            '|' => a | b,
            '&' => a & b,
            '\\' => a & !b,
            _ => panic!("no operator {operator}"),
        };
        match (operator, self, other) {
            (';', a, b) => Value::Relation(a.relation(size).then(&b.relation(size))),
            ('*', a, b) => {
                let (from, to) = (a.set(), b.set());
                let row = |a: usize| if from >> a & 1 == 1 { to } else { 0 };
                Value::Relation(Relation::empty(size).rows_by(row))
            }
            (_, Value::Nothing, Value::Nothing) => Value::Nothing,
            (_, Value::Set(_), _) | (_, _, Value::Set(_)) => {
                Value::Set(bits(self.set(), other.set()))
            }
            (_, a, b) => {
                let (a, b) = (a.relation(size), b.relation(size));
                Value::Relation(a.rows_by(|at| bits(a.rows[at], b.rows[at])))
            }
        }
    }
}
