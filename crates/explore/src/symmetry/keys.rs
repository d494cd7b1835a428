//! A key for each member: a hash of what the state says about it without naming others.
//!
//! A member's key sums up the plain slots of its own row, and a hash of every other cell and every
//! element of a multiset that mentions it, by role. Keys do not depend on names, so members that
//! can be exchanged have equal keys; in most states of most protocols all keys differ, and nothing
//! else is needed to put the members in order.
//!
//! One pass over the slots that members have a part in, with few branches on what they hold:
//! nobody, named by slots that name no member, is an entry of the tables like any other.

use super::bytes::{load, width_mask};
use super::hash::fold;
use super::plan::{Bag, Cell, Plan, Reference, Region, Short, Window};
use super::touch::Item;

/// The keys of a state.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// For each member its key, and one entry for nobody.
    pub(super) keys: Vec<u64>,
    /// For each member, how often anything but its own row mentions it.
    links: Vec<u32>,
    /// 1 while parts are added, -1 while they are taken away.
    sign: u64,
}

impl Keys {
    /// Reads a padded state.
    pub(super) fn read(&mut self, plan: &Plan, bytes: &[u8]) {
        self.keys.clear();
        self.keys.resize(plan.members + 1, 0);
        self.links.clear();
        self.links.resize(plan.members + 1, 0);
        self.sign = 1;
        let state = plan.state();
        for cell in &state.cells {
            match cell.sets.len() {
                0 => self.read_globals(plan, cell, bytes),
                1 => self.read_rows(plan, cell, bytes),
                _ => self.read_cells(plan, cell, 0, bytes),
            }
        }
        for bag in &state.bags {
            self.read_bag(plan, bag, 0, bytes);
        }
    }

    /// Whether anything but its own row mentions a member.
    #[inline(always)]
    pub(super) fn is_linked(&self, member: u32) -> bool {
        self.links[member as usize] != 0
    }

    /// Takes over the keys of another state.
    #[inline(always)]
    pub(super) fn copy_from(&mut self, other: &Keys) {
        self.keys.clone_from(&other.keys);
        self.links.clone_from(&other.links);
    }

    /// Goes from the keys of the padded state `before` to those of `after`, as far as an item says
    /// other things in the two.
    #[inline(always)]
    pub(super) fn advance(&mut self, plan: &Plan, item: Item, before: &[u8], after: &[u8]) {
        if let Item::Bag { bag, instance } = item {
            let bag = &plan.state().bags[bag as usize];
            return self.advance_bag(plan, bag, instance as usize, before, after);
        }
        for (sign, bytes) in [(u64::MAX, before), (1, after)] {
            self.sign = sign;
            self.read_item(plan, item, bytes);
        }
    }

    #[inline(always)]
    fn read_item(&mut self, plan: &Plan, item: Item, bytes: &[u8]) {
        let cell_of = |cell: u32| &plan.state().cells[cell as usize];
        let row_of = |cell: &Cell, row: u32| plan.sets[cell.sets[0]].first + row;
        match item {
            Item::Global { cell, reference } => {
                let cell = cell_of(cell);
                let at = cell.reference_offsets[reference as usize];
                self.read_global(plan, &cell.references[reference as usize], at, bytes);
            }
            Item::Window { cell, row, window } => {
                let cell = cell_of(cell);
                let at = cell.window_offsets[row as usize * cell.windows.len() + window as usize];
                let Window { mask, factor, .. } = cell.windows[window as usize];
                let part = (load(bytes, at as usize) & mask).wrapping_mul(factor);
                self.add(row_of(cell, row), part, false);
            }
            Item::Reference { cell, row, reference } => {
                let cell = cell_of(cell);
                let reference = reference as usize;
                let at = cell.reference_offsets[row as usize * cell.references.len() + reference];
                let owner = row_of(cell, row);
                let part =
                    self.read_reference(plan, &cell.references[reference], at as usize, bytes);
                self.add(owner, part, false);
            }
            Item::Cell { cell, instance } => {
                self.read_cell(plan, cell_of(cell), instance as usize, 0, bytes);
            }
            Item::Bag { .. } => {}
        }
    }

    /// The elements of a multiset, but for those that are the same at the same place.
    fn advance_bag(
        &mut self,
        plan: &Plan,
        bag: &Bag,
        instance: usize,
        before: &[u8],
        after: &[u8],
    ) {
        let at = bag.offsets[instance] as usize;
        let count = |bytes: &[u8]| (load(bytes, at) & bag.count_mask) as usize;
        let counts = [count(before), count(after)];
        let mask = width_mask(bag.stride);
        let same = |element: usize| match bag.stride <= 8 {
            true => (load(before, element) ^ load(after, element)) & mask == 0,
            false => {
                let range = element..element + bag.stride as usize;
                before[range.clone()] == after[range]
            }
        };
        for position in 0..counts[0].max(counts[1]) {
            let element = at + bag.elements as usize + position * bag.stride as usize;
            if position < counts[0].min(counts[1]) && same(element) {
                continue;
            }
            for (count, sign, bytes) in [(counts[0], u64::MAX, before), (counts[1], 1, after)] {
                if position < count {
                    self.sign = sign;
                    self.read_element(plan, bag, instance, element, bytes);
                }
            }
        }
    }

    /// References that belong to nobody.
    fn read_globals(&mut self, plan: &Plan, cell: &Cell, bytes: &[u8]) {
        for (reference, &at) in cell.references.iter().zip(&cell.reference_offsets) {
            self.read_global(plan, reference, at, bytes);
        }
    }

    #[inline(always)]
    fn read_global(&mut self, plan: &Plan, reference: &Reference, at: u32, bytes: &[u8]) {
        let number = load(bytes, at as usize) & reference.mask;
        let member = plan.decoders[reference.decoder as usize + number as usize];
        self.add(member, reference.role.constant, true);
    }

    fn read_rows(&mut self, plan: &Plan, cell: &Cell, bytes: &[u8]) {
        let first = plan.sets[cell.sets[0]].first as usize;
        let windows = cell.windows.len();
        if windows > 0 {
            let keys = &mut self.keys[first..first + cell.instances];
            for (key, offsets) in keys.iter_mut().zip(cell.window_offsets.chunks_exact(windows)) {
                for (window, &at) in cell.windows.iter().zip(offsets) {
                    let word = load(bytes, at as usize) & window.mask;
                    *key = key.wrapping_add(word.wrapping_mul(window.factor));
                }
            }
        }
        let references = cell.references.len();
        if references > 0 {
            let rows = cell.reference_offsets.chunks_exact(references);
            for (owner, offsets) in (first as u32..).zip(rows) {
                self.read_references(plan, cell, owner, offsets, bytes);
            }
        }
    }

    fn read_references(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        owner: u32,
        offsets: &[u32],
        bytes: &[u8],
    ) {
        let mut key: u64 = 0;
        for (reference, &at) in cell.references.iter().zip(offsets) {
            let part = self.read_reference(plan, reference, at as usize, bytes);
            key = key.wrapping_add(part);
        }
        self.add(owner, key, false);
    }

    /// A reference of a row; returns what it adds to the key of the owner.
    #[inline(always)]
    fn read_reference(
        &mut self,
        plan: &Plan,
        reference: &Reference,
        at: usize,
        bytes: &[u8],
    ) -> u64 {
        let number = load(bytes, at) & reference.mask;
        if number == 0 {
            return 0;
        }
        let member = plan.decoders[reference.decoder as usize + number as usize];
        let plain = number.wrapping_mul(reference.factor);
        self.add(member, reference.role.constant, true);
        if member == plan.nobody() { plain } else { reference.owner_role.constant }
    }

    /// Cells with several indices, or inside an element of a multiset. Most hold the lowest value
    /// only and count for nothing.
    fn read_cells(&mut self, plan: &Plan, cell: &Cell, base: usize, bytes: &[u8]) {
        if let ([window], []) = (cell.windows.as_slice(), cell.references.as_slice()) {
            return self.read_plain_cells(cell, window, base, bytes);
        }
        for instance in 0..cell.instances {
            self.read_cell(plan, cell, instance, base, bytes);
        }
    }

    #[inline(always)]
    fn read_cell(&mut self, plan: &Plan, cell: &Cell, instance: usize, base: usize, bytes: &[u8]) {
        let (hash, lowest) = cell.hash(plan, instance, base, bytes);
        if lowest {
            return;
        }
        let hash = fold(hash);
        for (&member, role) in cell.indices_of(instance).iter().zip(&cell.roles) {
            self.add(member, hash.rotate_left(role.rotation), true);
        }
        self.add_named(plan, cell, instance, base, hash, bytes);
    }

    /// Cells of a single window, such as the bits of a matrix.
    fn read_plain_cells(&mut self, cell: &Cell, window: &Window, base: usize, bytes: &[u8]) {
        for (instance, &at) in cell.window_offsets.iter().enumerate() {
            let word = load(bytes, base + at as usize) & window.mask;
            if word == window.lowest {
                continue;
            }
            let hash = fold(cell.seed.wrapping_add(word.wrapping_mul(window.factor)));
            for (&member, role) in cell.indices_of(instance).iter().zip(&cell.roles) {
                self.add(member, hash.rotate_left(role.rotation), true);
            }
        }
    }

    fn read_bag(&mut self, plan: &Plan, bag: &Bag, base: usize, bytes: &[u8]) {
        for (instance, &offset) in bag.offsets.iter().enumerate() {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            let (first, stride) = (at + bag.elements as usize, bag.stride as usize);
            for position in 0..count {
                self.read_element(plan, bag, instance, first + position * stride, bytes);
            }
        }
    }

    #[inline(always)]
    fn read_element(
        &mut self,
        plan: &Plan,
        bag: &Bag,
        instance: usize,
        element: usize,
        bytes: &[u8],
    ) {
        if let Some(short) = &bag.short {
            return self.read_short(plan, bag, instance, short, load(bytes, element));
        }
        let region = &plan.regions[bag.element];
        let (hash, _) = region.cells[0].hash(plan, 0, element, bytes);
        let hash = fold(hash ^ bag.seed);
        for (&member, role) in bag.indices_of(instance).iter().zip(&bag.roles) {
            self.add(member, hash.rotate_left(role.rotation), true);
        }
        self.add_named(plan, &region.cells[0], 0, element, hash, bytes);
        if !bag.flat {
            self.read_parts(plan, region, element, bytes);
        }
    }

    /// An element of a multiset that is one cell and fits in a word.
    #[inline(always)]
    fn read_short(&mut self, plan: &Plan, bag: &Bag, instance: usize, short: &Short, word: u64) {
        let named = |&(shift, reference): &(u32, Reference)| {
            let number = (word >> shift) & reference.mask;
            (number, plan.decoders[reference.decoder as usize + number as usize])
        };
        let plain = (word & short.plain.mask).wrapping_mul(short.plain.factor);
        let mut hash = bag.seed.wrapping_add(plain);
        for slot in &short.references {
            let (number, member) = named(slot);
            let plain = number.wrapping_mul(slot.1.factor);
            hash = hash.wrapping_add(if member == plan.nobody() { plain } else { 0 });
        }
        let hash = fold(hash);
        for (&member, role) in bag.indices_of(instance).iter().zip(&bag.roles) {
            self.add(member, hash.rotate_left(role.rotation), true);
        }
        for slot in &short.references {
            self.add(named(slot).1, hash.rotate_left(slot.1.role.rotation), true);
        }
    }

    /// What else there is in an element of a multiset.
    fn read_parts(&mut self, plan: &Plan, region: &Region, base: usize, bytes: &[u8]) {
        for cell in &region.cells[1..] {
            self.read_cells(plan, cell, base, bytes);
        }
        for bag in &region.bags {
            self.read_bag(plan, bag, base, bytes);
        }
    }

    /// Adds the hash of a cell to the keys of those that its references name.
    #[inline(always)]
    fn add_named(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        instance: usize,
        base: usize,
        hash: u64,
        bytes: &[u8],
    ) {
        for (reference, &at) in cell.references.iter().zip(cell.references_of(instance)) {
            let number = load(bytes, base + at as usize) & reference.mask;
            let member = plan.decoders[reference.decoder as usize + number as usize];
            self.add(member, hash.rotate_left(reference.role.rotation), true);
        }
    }

    #[inline(always)]
    fn add(&mut self, member: u32, part: u64, links: bool) {
        let key = &mut self.keys[member as usize];
        *key = key.wrapping_add(part.wrapping_mul(self.sign));
        let count = &mut self.links[member as usize];
        *count = count.wrapping_add(u32::from(links).wrapping_mul(self.sign as u32));
    }
}

impl Cell {
    /// The hash of what a cell holds, names apart, and whether it holds nothing but lowest values.
    #[inline(always)]
    pub(super) fn hash(
        &self,
        plan: &Plan,
        instance: usize,
        base: usize,
        bytes: &[u8],
    ) -> (u64, bool) {
        let windows = self.windows.len();
        let offsets = &self.window_offsets[instance * windows..(instance + 1) * windows];
        let mut hash = self.seed;
        let mut lowest = self.references.is_empty();
        for (window, &at) in self.windows.iter().zip(offsets) {
            let word = load(bytes, base + at as usize) & window.mask;
            lowest &= word == window.lowest;
            hash = hash.wrapping_add(word.wrapping_mul(window.factor));
        }
        for (reference, &at) in self.references.iter().zip(self.references_of(instance)) {
            let number = load(bytes, base + at as usize) & reference.mask;
            let member = plan.decoders[reference.decoder as usize + number as usize];
            let plain = number.wrapping_mul(reference.factor);
            hash = hash.wrapping_add(if member == plan.nobody() { plain } else { 0 });
        }
        (hash, lowest)
    }
}

/// Whether the rows of two members of a scalarset are the same to the byte. Multisets below them
/// are not looked at.
pub(super) fn same_rows(plan: &Plan, left: u32, right: u32, bytes: &[u8]) -> bool {
    let mut rows = plan.state().cells.iter().filter(|cell| cell.sets.len() == 1);
    rows.all(|cell| {
        let set = plan.sets[cell.sets[0]];
        if !set.members().contains(&(left as usize)) {
            return true;
        }
        let (left, right) = ((left - set.first) as usize, (right - set.first) as usize);
        let windows = cell.windows.len();
        let references = cell.references.len();
        let difference = |at: usize, other: usize| load(bytes, at) ^ load(bytes, other);
        (0..windows).all(|window| {
            let at = |row: usize| cell.window_offsets[row * windows + window] as usize;
            difference(at(left), at(right)) & cell.windows[window].mask == 0
        }) && (0..references).all(|reference| {
            let at = |row: usize| cell.reference_offsets[row * references + reference] as usize;
            difference(at(left), at(right)) & cell.references[reference].mask == 0
        })
    })
}
