//! What a thread remembers of renamed units: which unit becomes which under a permutation.
//!
//! What a unit becomes depends on the unit and the permutation only, and the parts of a tree have
//! exact numbers; so an entry holds whenever its unit and its permutation are met again, in whatever
//! state. Entries that fall on the same place replace each other.

/// Entries, a power of two.
const ENTRIES: usize = 1 << 15;

/// What is asked: a unit, its kind, and who becomes whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) permutation: u64,
    pub(super) kind: u32,
    pub(super) number: u32,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    question: Question,
    /// The number of the unit that it becomes.
    answer: u32,
}

/// Answers of before.
#[derive(Debug)]
pub(super) struct Memo {
    entries: Vec<Entry>,
}

impl Memo {
    /// One that remembers nothing yet.
    pub(super) fn new() -> Memo {
        // No unit has this number, so no question is this one.
        let question = Question { permutation: 0, kind: u32::MAX, number: u32::MAX };
        Memo { entries: vec![Entry { question, answer: 0 }; ENTRIES] }
    }

    /// One for states that are one unit, of which nothing is ever asked.
    pub(super) fn none() -> Memo {
        Memo { entries: Vec::new() }
    }

    /// Bytes of it.
    pub(super) fn bytes() -> usize {
        ENTRIES * size_of::<Entry>()
    }

    #[inline(always)]
    fn place(question: Question) -> usize {
        let unit = u64::from(question.kind) << 32 | u64::from(question.number);
        let mixed = (question.permutation.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ unit)
            .wrapping_mul(0xd1b5_4a32_d192_ed03);
        (mixed >> (u64::BITS - ENTRIES.ilog2())) as usize
    }

    /// What the unit becomes, if that is remembered.
    #[inline(always)]
    pub(super) fn get(&self, question: Question) -> Option<u32> {
        let entry = &self.entries[Memo::place(question)];
        (entry.question == question).then_some(entry.answer)
    }

    /// Remembers what a unit becomes.
    pub(super) fn put(&mut self, question: Question, answer: u32) {
        self.entries[Memo::place(question)] = Entry { question, answer };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_remembered_is_answered() {
        let mut memo = Memo::new();
        let question = |number: u32| Question {
            permutation: u64::from(number % 3),
            kind: number % 2,
            number: number / 2,
        };
        assert!((0..1000).all(|number| memo.get(question(number)).is_none()));
        for number in 0..300_000 {
            memo.put(question(number), number);
        }
        let kept = |&number: &u32| match memo.get(question(number)) {
            Some(answer) => {
                // Another number may ask the same.
                assert_eq!(question(answer), question(number));
                true
            }
            None => false,
        };
        assert!((0..300_000).filter(kept).count() > ENTRIES / 2);
    }
}
