//! Which bytes of a state belong together: the parts that stay whole when members are renamed.
//!
//! All that a state keeps for one member of a scalarset, in however many arrays, is a *unit* (or a
//! few of them, if it is much), and so is what belongs to nobody. Renaming members turns each unit
//! into one of the same kind, and into which depends on this unit alone and on who becomes whom. A
//! [tree](crate::tree) keeps states unit by unit, so that equal parts are found again wherever they
//! move to. The bytes of a unit are *gathered*: they are next to each other, and units begin at
//! whole leaves.

/// Bytes of a leaf of a tree.
pub(crate) const LEAF: usize = 64;
/// Bytes from which on a range begins at a whole leaf, so that it is not mixed with its neighbour.
const LONG: u32 = 40;

/// The units of a state.
#[derive(Debug, Clone)]
pub struct Units {
    pub(crate) units: Vec<Unit>,
    /// Bytes of all units.
    pub(crate) gathered: usize,
    /// For each word of the state, where its bytes are gathered.
    pieces: Lists<Piece>,
    /// For each leaf, where its bytes come from.
    sources: Lists<Source>,
    /// For each leaf, the words of the state with bytes of it.
    words: Lists<u32>,
    /// Whether permutations are mistaken for each other. For tests that this is noticed.
    pub(crate) confused: bool,
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Units of a kind have the same form; those of members follow each other.
    pub(crate) kind: u32,
    /// Whose it is; nobody's unit stays where it is.
    pub(crate) owner: Option<u32>,
    /// Its first leaf, and how many it has.
    pub(crate) first: u32,
    pub(crate) leaves: u32,
}

/// Up to eight bytes of a state.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: u32,
    to: u32,
    length: u32,
}

/// Some bytes of a leaf.
#[derive(Debug, Clone, Copy)]
struct Source {
    within: u32,
    length: u32,
    /// Where they are in the state.
    at: u32,
}

/// A list for each of some numbers.
#[derive(Debug, Clone)]
struct Lists<T> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: Vec<Vec<T>>) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for list in lists {
            entries.extend(list);
            starts.push(entries.len() as u32);
        }
        Lists { starts, entries }
    }

    #[inline(always)]
    fn get(&self, number: usize) -> &[T] {
        &self.entries[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The parts of a unit, before units are laid out: bytes of the state, as offset and length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranges {
    pub(crate) kind: u32,
    pub(crate) owner: Option<u32>,
    pub(crate) ranges: Vec<(u32, u32)>,
}

impl Units {
    /// All of a state as one unit, in the order of its bytes.
    pub(crate) fn whole(state_size: usize) -> Units {
        let ranges = vec![(0, state_size as u32)];
        Units::of(state_size, vec![Ranges { kind: 0, owner: None, ranges }])
    }

    /// Lays out units. Each byte of the state is in one range of one of them.
    pub(crate) fn of(state_size: usize, parts: Vec<Ranges>) -> Units {
        let mut units = Vec::with_capacity(parts.len());
        // For each byte of the state, where it goes.
        let mut places = vec![u32::MAX; state_size];
        let mut end = 0u32;
        for mut part in parts {
            end = end.next_multiple_of(LEAF as u32);
            let first = end / LEAF as u32;
            // Short ones first, which then share a leaf. Units of a kind have the same lengths.
            part.ranges.sort_by_key(|&(_, length)| length);
            for &(at, length) in &part.ranges {
                if length >= LONG {
                    end = end.next_multiple_of(LEAF as u32);
                }
                for byte in at..at + length {
                    places[byte as usize] = end + byte - at;
                }
                end += length;
            }
            let leaves = end.div_ceil(LEAF as u32).max(first + 1) - first;
            end = end.max((first + leaves) * LEAF as u32);
            units.push(Unit { kind: part.kind, owner: part.owner, first, leaves });
        }
        let gathered = (end as usize).next_multiple_of(LEAF);
        let pieces = (0..state_size.div_ceil(8)).map(|word| pieces(&places, word)).collect();
        let mut sources = vec![Vec::new(); gathered / LEAF];
        for (at, &place) in (0u32..).zip(&places) {
            let (leaf, within) = (place as usize / LEAF, place % LEAF as u32);
            let list: &mut Vec<Source> = &mut sources[leaf];
            match list.last_mut() {
                Some(last)
                    if last.at + last.length == at && last.within + last.length == within =>
                {
                    last.length += 1;
                }
                _ => list.push(Source { within, length: 1, at }),
            }
        }
        let words = sources.iter().map(|sources| words(sources)).collect();
        Units {
            units,
            gathered,
            pieces: Lists::of(pieces),
            sources: Lists::of(sources),
            words: Lists::of(words),
            confused: false,
        }
    }

    /// The words of a state with bytes of a leaf.
    #[inline(always)]
    pub(crate) fn words_of(&self, leaf: usize) -> &[u32] {
        self.words.get(leaf)
    }

    /// The unit that becomes the unit `number` if members become others.
    #[inline(always)]
    pub(crate) fn target(&self, number: usize, image: &[u32]) -> usize {
        match self.units[number].owner {
            Some(owner) => (number + image[owner as usize] as usize).wrapping_sub(owner as usize),
            None => number,
        }
    }

    /// Gathers a word of a state, and calls a function for every leaf with bytes of it, before they are
    /// there.
    #[inline(always)]
    pub(crate) fn gather(
        &self,
        word: u32,
        state: &[u8],
        gathered: &mut [u8],
        mut touch: impl FnMut(usize, &mut [u8]),
    ) {
        for piece in self.pieces.get(word as usize) {
            let (from, to) = (piece.from as usize, piece.to as usize);
            let length = piece.length as usize;
            touch(to / LEAF, gathered);
            if length == 8 {
                gathered[to..to + 8].copy_from_slice(&state[from..from + 8]);
            } else {
                // A few bytes, for which a call would cost more.
                let bytes = gathered[to..to + length].iter_mut();
                bytes.zip(&state[from..from + length]).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// Gathers a leaf of a state.
    #[inline(always)]
    pub(crate) fn gather_leaf(&self, leaf: usize, state: &[u8], gathered: &mut [u8]) {
        let bytes = &mut gathered[leaf * LEAF..(leaf + 1) * LEAF];
        for source in self.sources.get(leaf) {
            let (at, within) = (source.at as usize, source.within as usize);
            let length = source.length as usize;
            bytes[within..within + length].copy_from_slice(&state[at..at + length]);
        }
    }

    /// Puts the bytes of a gathered leaf where they are in a state.
    #[inline(always)]
    pub(crate) fn scatter_leaf(&self, leaf: usize, gathered: &[u8], state: &mut [u8]) {
        let bytes = &gathered[leaf * LEAF..(leaf + 1) * LEAF];
        for source in self.sources.get(leaf) {
            let (at, within) = (source.at as usize, source.within as usize);
            let length = source.length as usize;
            state[at..at + length].copy_from_slice(&bytes[within..within + length]);
        }
    }
}

/// The words with bytes of a leaf.
fn words(sources: &[Source]) -> Vec<u32> {
    let words = |source: &Source| source.at / 8..(source.at + source.length).div_ceil(8);
    let mut words: Vec<u32> = sources.iter().flat_map(words).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The pieces of a word: bytes that follow each other in the state and in one leaf.
fn pieces(places: &[u32], word: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let start = 8 * word;
    let end = places.len().min(start + 8);
    for (from, &to) in (start as u32..).zip(&places[start..end]) {
        match pieces.last_mut() {
            Some(last) if last.to + last.length == to && !to.is_multiple_of(LEAF as u32) => {
                last.length += 1;
            }
            _ => pieces.push(Piece { from, to, length: 1 }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two members with a byte and a long range each, and the rest.
    fn units() -> Units {
        let member = |owner: u32, byte, long| Ranges {
            kind: 0,
            owner: Some(owner),
            ranges: vec![(long, 48), (byte, 1)],
        };
        let rest = Ranges { kind: 1, owner: None, ranges: vec![(2, 6), (104, 32)] };
        Units::of(136, vec![member(0, 0, 8), member(1, 1, 56), rest])
    }

    #[test]
    fn what_is_gathered_and_scattered_is_the_same_state() {
        let units = units();
        assert_eq!(units.gathered, 2 * 128 + 64);
        let state: Vec<u8> = (1..=136).collect();
        let (mut by_word, mut by_leaf) = (vec![0; units.gathered], vec![0; units.gathered]);
        for word in 0..17 {
            units.gather(word, &state, &mut by_word, |_, _| ());
        }
        let mut back = vec![0; 136];
        for leaf in 0..units.gathered / LEAF {
            units.gather_leaf(leaf, &state, &mut by_leaf);
            for &word in units.words_of(leaf) {
                let bytes = &state[8 * word as usize..][..8];
                let leaf = &by_leaf[leaf * LEAF..(leaf + 1) * LEAF];
                assert!(bytes.iter().any(|byte| leaf.contains(byte)));
            }
            units.scatter_leaf(leaf, &by_leaf, &mut back);
        }
        assert_eq!(by_word, by_leaf);
        assert_eq!(back, state);
        assert_eq!((by_word[0], by_word[64]), (1, 9));
        assert_eq!((by_word[128], by_word[192]), (2, 57));
    }

    #[test]
    fn a_word_tells_of_every_leaf_that_it_is_in() {
        let units = units();
        let mut touched = Vec::new();
        let state = [0; 136];
        units.gather(0, &state, &mut vec![0; units.gathered], |leaf, _| touched.push(leaf));
        assert_eq!(touched, [0, 2, 4]);
    }

    #[test]
    fn units_go_where_their_members_go() {
        let units = units();
        let targets: Vec<usize> = (0..3).map(|unit| units.target(unit, &[1, 0, 2])).collect();
        assert_eq!(targets, [1, 0, 2]);
    }
}
