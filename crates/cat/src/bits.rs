//! Sets and relations over the events of one execution, as bits.

/// A set of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    size: usize,
    words: Vec<u64>,
}

/// How many words hold so many bits.
fn words(size: usize) -> usize {
    size.div_ceil(64)
}

impl Bits {
    pub(crate) fn empty(size: usize) -> Self {
        Bits { size, words: vec![0; words(size)] }
    }

    pub(crate) fn of(size: usize, holds: impl Fn(usize) -> bool) -> Self {
        let mut bits = Self::empty(size);
        (0..size).filter(|&at| holds(at)).for_each(|at| bits.insert(at));
        bits
    }

    pub(crate) fn insert(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    pub(crate) fn has(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Word by word with another one.
    pub(crate) fn with(&self, other: &Bits, combine: impl Fn(u64, u64) -> u64) -> Bits {
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| combine(a, b)).collect();
        Bits { size: self.size, words }
    }

    pub(crate) fn complement(&self) -> Bits {
        Bits::of(self.size, |at| !self.has(at))
    }

    /// The events in it, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.size).filter(|&at| self.has(at))
    }
}

/// A relation between events: row `a` has every `b` with (a, b) in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matrix {
    size: usize,
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    pub(crate) fn empty(size: usize) -> Self {
        let width = words(size);
        Matrix { size, width, words: vec![0; size * width] }
    }

    pub(crate) fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut matrix = Self::empty(size);
        for a in 0..size {
            (0..size).filter(|&b| holds(a, b)).for_each(|b| matrix.insert(a, b));
        }
        matrix
    }

    pub(crate) fn insert(&mut self, a: usize, b: usize) {
        self.words[a * self.width + b / 64] |= 1 << (b % 64);
    }

    pub(crate) fn remove(&mut self, a: usize, b: usize) {
        self.words[a * self.width + b / 64] &= !(1 << (b % 64));
    }

    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.words[a * self.width + b / 64] >> (b % 64) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.words[a * self.width..(a + 1) * self.width]
    }

    /// The pairs in it, in order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.size)
            .flat_map(move |a| (0..self.size).map(move |b| (a, b)))
            .filter(|&(a, b)| self.has(a, b))
    }

    pub(crate) fn with(&self, other: &Matrix, combine: impl Fn(u64, u64) -> u64) -> Matrix {
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| combine(a, b)).collect();
        Matrix { words, ..*self }
    }

    pub(crate) fn complement(&self) -> Matrix {
        Matrix::of(self.size, |a, b| !self.has(a, b))
    }

    pub(crate) fn inverse(&self) -> Matrix {
        let mut inverse = Matrix::empty(self.size);
        self.pairs().for_each(|(a, b)| inverse.insert(b, a));
        inverse
    }

    pub(crate) fn identity_on(set: &Bits) -> Matrix {
        let mut identity = Matrix::empty(set.size);
        set.iter().for_each(|at| identity.insert(at, at));
        identity
    }

    pub(crate) fn product(from: &Bits, to: &Bits) -> Matrix {
        let mut product = Matrix::empty(from.size);
        for a in from.iter() {
            product.words[a * product.width..(a + 1) * product.width].copy_from_slice(&to.words);
        }
        product
    }

    pub(crate) fn domain(&self) -> Bits {
        Bits::of(self.size, |a| self.row(a).iter().any(|&word| word != 0))
    }

    pub(crate) fn range(&self) -> Bits {
        let mut range = Bits::empty(self.size);
        for a in 0..self.size {
            range.words.iter_mut().zip(self.row(a)).for_each(|(all, row)| *all |= row);
        }
        range
    }

    /// First a step of this relation, then one of the other.
    pub(crate) fn then(&self, other: &Matrix) -> Matrix {
        let mut both = Matrix::empty(self.size);
        for (a, b) in self.pairs() {
            let row = &mut both.words[a * both.width..(a + 1) * both.width];
            row.iter_mut().zip(other.row(b)).for_each(|(to, from)| *to |= from);
        }
        both
    }

    /// One step or more (Warshall).
    pub(crate) fn closure(&self) -> Matrix {
        let mut closed = self.clone();
        let mut through = vec![0; self.width];
        for middle in 0..self.size {
            through.copy_from_slice(closed.row(middle));
            for a in 0..self.size {
                if closed.has(a, middle) {
                    let row = &mut closed.words[a * self.width..(a + 1) * self.width];
                    row.iter_mut().zip(&through).for_each(|(to, from)| *to |= from);
                }
            }
        }
        closed
    }

    /// Whether no event is related to itself.
    pub(crate) fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|at| !self.has(at, at))
    }

    /// Whether no path leads back to where it began.
    pub(crate) fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}
