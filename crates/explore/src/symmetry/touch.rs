//! What a word of a state says about members: so that keys, names and multisets are looked at only
//! where two states differ.
//!
//! The key of a member is a sum over *items*: a window of its row, a reference, a cell with several
//! indices, the elements of a multiset. For each word of the state, the items with a slot in it are
//! listed with the bits of these slots. From the keys of one state, those of another follow by taking
//! away what the items in the bits that differ said, and adding what they say now.

use super::plan::{Bag, Plan};

/// A part of the state that adds to keys on its own. Numbers are those of the plan's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A reference that belongs to nobody.
    Global { cell: u32, reference: u32 },
    /// A window of a row.
    Window { cell: u32, row: u32, window: u32 },
    /// A reference of a row.
    Reference { cell: u32, row: u32, reference: u32 },
    /// A cell with several indices.
    Cell { cell: u32, instance: u32 },
    /// A multiset.
    Bag { bag: u32, instance: u32 },
}

/// A slot outside multisets that may name a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) at: u32,
    pub(super) width: u32,
    pub(super) decoder: u32,
}

/// The items and names of all words of a state.
#[derive(Debug, Default)]
pub(super) struct Touch {
    pub(super) items: Vec<Item>,
    items_of: Lists<Touched>,
    names_of: Lists<Name>,
    /// For each word with names, where it is and the bits of its names.
    pub(super) naming: Vec<(u32, u64)>,
}

/// An item with a slot in a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    pub(super) item: u32,
    /// The bits of the word that it reads.
    pub(super) bits: u64,
}

/// A list for each word.
#[derive(Debug)]
struct Lists<T> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { starts: vec![0], entries: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    fn of(words: usize, mut pairs: Vec<(u32, T)>) -> Self {
        pairs.sort_by_key(|&(word, _)| word);
        let mut starts = Vec::with_capacity(words + 1);
        for word in 0..=words {
            starts.push(pairs.partition_point(|&(other, _)| (other as usize) < word) as u32);
        }
        Lists { starts, entries: pairs.into_iter().map(|(_, entry)| entry).collect() }
    }

    #[inline(always)]
    fn of_word(&self, word: u32) -> &[T] {
        let word = word as usize;
        &self.entries[self.starts[word] as usize..self.starts[word + 1] as usize]
    }
}

impl Touch {
    /// The tables of a plan whose regions are complete.
    pub(super) fn of(plan: &Plan) -> Touch {
        let mut maker = Maker { items: Vec::new(), pairs: Vec::new() };
        let state = plan.state();
        for (number, cell) in (0..).zip(&state.cells) {
            let windows = cell.windows.len();
            let references = cell.references.len();
            for instance in 0..cell.instances {
                let window_at = |window: usize| cell.window_offsets[instance * windows + window];
                let named_at = |named: usize| cell.reference_offsets[instance * references + named];
                let row = instance as u32;
                match cell.sets.len() {
                    0 => {}
                    1 => {
                        for (window, &parts) in cell.windows.iter().enumerate() {
                            let item = Item::Window { cell: number, row, window: window as u32 };
                            maker.push(item, bits_of(window_at(window), parts.mask));
                        }
                    }
                    _ => {
                        let windows = cell.windows.iter().enumerate();
                        let plain =
                            windows.flat_map(|(at, parts)| bits_of(window_at(at), parts.mask));
                        let named = cell.references.iter().enumerate();
                        let named = named.flat_map(|(at, named)| bits_of(named_at(at), named.mask));
                        let item = Item::Cell { cell: number, instance: row };
                        maker.push(item, plain.chain(named));
                        continue;
                    }
                }
                for (reference, named) in (0..).zip(&cell.references) {
                    let item = match cell.sets.len() {
                        0 => Item::Global { cell: number, reference },
                        _ => Item::Reference { cell: number, row, reference },
                    };
                    maker.push(item, bits_of(named_at(reference as usize), named.mask));
                }
            }
        }
        for (number, bag) in (0..).zip(&state.bags) {
            for (instance, &offset) in (0..).zip(&bag.offsets) {
                let words = offset / 8..(offset + bag_size(bag)).div_ceil(8);
                let whole = words.map(|word| (word, u64::MAX));
                maker.push(Item::Bag { bag: number, instance }, whole);
            }
        }
        let words = plan.size.div_ceil(8);
        let (names_of, naming) = names(plan, words);
        Touch { items: maker.items, items_of: Lists::of(words, maker.pairs), names_of, naming }
    }

    /// Forgets one item in eight.
    pub(super) fn overlook(&mut self) {
        let kept =
            |item: u32| if item.is_multiple_of(8) { self.items.len() - 1 } else { item as usize };
        for touched in &mut self.items_of.entries {
            touched.item = kept(touched.item) as u32;
        }
    }

    /// The items with a slot in a word.
    #[inline(always)]
    pub(super) fn items_of(&self, word: u32) -> &[Touched] {
        self.items_of.of_word(word)
    }

    /// Whether a word has bytes of a multiset.
    pub(super) fn has_multiset(&self, word: u32) -> bool {
        let is_bag =
            |touched: &Touched| matches!(self.items[touched.item as usize], Item::Bag { .. });
        self.items_of(word).iter().any(is_bag)
    }

    /// The slots in a word that may name a member.
    #[inline(always)]
    pub(super) fn names_of(&self, word: u32) -> &[Name] {
        self.names_of.of_word(word)
    }
}

/// Bytes from the count of a multiset to the end of its last element.
pub(super) fn bag_size(bag: &Bag) -> u32 {
    bag.elements + bag.capacity * bag.stride
}

/// The words of the bytes of a mask, with their bits.
fn bits_of(offset: u32, mask: u64) -> impl Iterator<Item = (u32, u64)> {
    (0..8).filter_map(move |byte| {
        let (at, bits) = (offset + byte, mask >> (8 * byte) & 0xff);
        (bits != 0).then_some((at / 8, bits << (8 * (at % 8))))
    })
}

fn names(plan: &Plan, words: usize) -> (Lists<Name>, Vec<(u32, u64)>) {
    let mut pairs = Vec::new();
    for names in &plan.state().names {
        for &at in &names.offsets {
            pairs.push((at / 8, Name { at, width: names.width, decoder: names.decoder }));
        }
    }
    let lists = Lists::of(words, pairs);
    let mask = |word: u32| {
        let names = lists.of_word(word).iter();
        names.fold(0, |mask, name| {
            mask | super::bytes::width_mask(name.width) << (8 * (name.at % 8))
        })
    };
    let naming = (0..words as u32).map(|word| (word, mask(word))).filter(|&(_, mask)| mask != 0);
    let naming = naming.collect();
    (lists, naming)
}

struct Maker {
    items: Vec<Item>,
    pairs: Vec<(u32, Touched)>,
}

impl Maker {
    fn push(&mut self, item: Item, words: impl Iterator<Item = (u32, u64)>) {
        let number = self.items.len() as u32;
        self.items.push(item);
        let mut words: Vec<(u32, u64)> = words.collect();
        words.sort_unstable();
        for group in words.chunk_by(|left, right| left.0 == right.0) {
            let bits = group.iter().fold(0, |bits, &(_, more)| bits | more);
            self.pairs.push((group[0].0, Touched { item: number, bits }));
        }
    }
}
