//! What a state says about the members of scalarsets, as a hypergraph with hashes.
//!
//! Vertices are the members, and elements of multisets that are more than one cell. An edge is a
//! cell, or an element of a multiset, that mentions vertices, each in a role: as an index, or by a
//! reference. What mentions a single member needs no edge: it goes into the member's *key*, as
//! does the member's own row, and a first look at every edge. Keys depend on what is said about a
//! member but not on its name, so members that can be exchanged have equal keys.
//!
//! One pass over the slots of the state that members have a part in.

use super::bytes::load;
use super::hash::fold;
use super::plan::{Bag, Cell, NOBODY, Plan, Region};

/// The hypergraph of a state.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// For each vertex, a hash of what is said about it without naming others.
    pub(super) keys: Vec<u64>,
    /// For each member, whether something other than its own row mentions it.
    pub(super) linked: Vec<bool>,
    pub(super) edges: Vec<Edge>,
    pub(super) mentions: Vec<Mention>,
}

/// Something that mentions at least two vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    /// A hash of what it says without names.
    pub(super) hash: u64,
    /// Its mentions end here and begin where those of the edge before end.
    pub(super) end: u32,
}

/// A vertex in an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    pub(super) role: u64,
    pub(super) vertex: u32,
}

/// The role of an element of a multiset in the edges of its parts.
const CONTAINER: u64 = 0x8a5c_d789_635d_2dff;

/// Equal mentions in an edge with more mentions than this are not told apart from unequal ones.
const COMPARED: usize = 8;

impl Graph {
    /// Reads a padded state.
    pub(super) fn read(&mut self, plan: &Plan, bytes: &[u8]) {
        self.keys.clear();
        self.keys.resize(plan.members, 0);
        self.linked.clear();
        self.linked.resize(plan.members, false);
        self.edges.clear();
        self.mentions.clear();
        let state = plan.state();
        for cell in &state.cells {
            match cell.sets.len() {
                0 => self.read_globals(plan, cell, bytes),
                1 => self.read_rows(plan, cell, bytes),
                _ => self.read_cells(plan, cell, 0, None, bytes),
            }
        }
        for bag in &state.bags {
            self.read_bag(plan, bag, 0, None, bytes);
        }
    }

    /// References that belong to nobody.
    fn read_globals(&mut self, plan: &Plan, cell: &Cell, bytes: &[u8]) {
        for (reference, &at) in cell.references.iter().zip(&cell.reference_offsets) {
            let number = load(bytes, at as usize) & reference.mask;
            let member = plan.decoders[reference.decoder as usize + number as usize];
            if member != NOBODY {
                self.key(member, reference.role);
                self.linked[member as usize] = true;
            }
        }
    }

    /// What belongs to one member: its plain slots are its key, each reference is an edge.
    fn read_rows(&mut self, plan: &Plan, cell: &Cell, bytes: &[u8]) {
        let first = plan.sets[cell.sets[0]].first as usize;
        let width = cell.windows.len();
        if width > 0 {
            let keys = &mut self.keys[first..first + cell.instances];
            for (key, offsets) in keys.iter_mut().zip(cell.window_offsets.chunks_exact(width)) {
                for (window, &at) in cell.windows.iter().zip(offsets) {
                    let word = load(bytes, at as usize) & window.mask;
                    *key = key.wrapping_add(word.wrapping_mul(window.factor));
                }
            }
        }
        let references = cell.references.len();
        if references == 0 {
            return;
        }
        for (owner, offsets) in
            (first as u32..).zip(cell.reference_offsets.chunks_exact(references))
        {
            for (reference, &at) in cell.references.iter().zip(offsets) {
                let number = load(bytes, at as usize) & reference.mask;
                let member = plan.decoders[reference.decoder as usize + number as usize];
                if member == NOBODY {
                    self.key(owner, number.wrapping_mul(reference.factor));
                } else if member == owner {
                    self.key(owner, reference.self_role);
                    self.linked[owner as usize] = true;
                } else {
                    self.key(owner, reference.owner_role);
                    self.key(member, reference.role);
                    self.linked[member as usize] = true;
                    self.mention(owner, reference.owner_role);
                    self.mention(member, reference.role);
                    self.edges.push(Edge { hash: cell.seed, end: self.mentions.len() as u32 });
                }
            }
        }
    }

    /// Whether the rows of two members of a scalarset are the same to the byte. Multisets below
    /// them are not looked at.
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

    /// Cells that are an edge each, unless all that they hold is the lowest value.
    fn read_cells(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        base: usize,
        container: Option<u32>,
        bytes: &[u8],
    ) {
        for instance in 0..cell.instances {
            let windows = cell.windows.len();
            let offsets = &cell.window_offsets[instance * windows..(instance + 1) * windows];
            let mut lowest = cell.references.is_empty();
            let mut hash = cell.seed;
            for (window, &at) in cell.windows.iter().zip(offsets) {
                let word = load(bytes, base + at as usize) & window.mask;
                lowest &= word == window.lowest;
                hash = hash.wrapping_add(word.wrapping_mul(window.factor));
            }
            if lowest {
                continue;
            }
            if let Some(container) = container {
                self.mention(container, CONTAINER);
            }
            let indices = cell.roles.len();
            let members = &cell.indices[instance * indices..(instance + 1) * indices];
            for (&member, &role) in members.iter().zip(&cell.roles) {
                self.mention(member, role);
            }
            let hash = self.mention_references(plan, cell, instance, base, hash, bytes);
            self.close_edge(hash);
        }
    }

    /// Mentions whom the references of a cell name; numbers that name nobody go into the hash.
    #[inline]
    fn mention_references(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        instance: usize,
        base: usize,
        mut hash: u64,
        bytes: &[u8],
    ) -> u64 {
        let references = cell.references.len();
        let offsets = &cell.reference_offsets[instance * references..(instance + 1) * references];
        for (reference, &at) in cell.references.iter().zip(offsets) {
            let number = load(bytes, base + at as usize) & reference.mask;
            match plan.decoders[reference.decoder as usize + number as usize] {
                NOBODY => hash = hash.wrapping_add(number.wrapping_mul(reference.factor)),
                member => self.mention(member, reference.role),
            }
        }
        hash
    }

    /// The elements of a multiset: an edge each, or a vertex with edges to all its parts.
    fn read_bag(
        &mut self,
        plan: &Plan,
        bag: &Bag,
        base: usize,
        container: Option<u32>,
        bytes: &[u8],
    ) {
        let region = &plan.regions[bag.element];
        let indices = bag.roles.len();
        for (instance, &offset) in bag.offsets.iter().enumerate() {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            let members = &bag.indices[instance * indices..(instance + 1) * indices];
            for position in 0..count {
                let element = at + bag.elements as usize + position * bag.stride as usize;
                if let Some(container) = container {
                    self.mention(container, bag.container_role);
                }
                for (&member, &role) in members.iter().zip(&bag.roles) {
                    self.mention(member, role);
                }
                self.read_element(plan, bag, region, element, bytes);
            }
        }
    }

    fn read_element(
        &mut self,
        plan: &Plan,
        bag: &Bag,
        region: &Region,
        base: usize,
        bytes: &[u8],
    ) {
        let cell = &region.cells[0];
        let mut hash = bag.seed;
        for (window, &at) in cell.windows.iter().zip(&cell.window_offsets) {
            let word = load(bytes, base + at as usize) & window.mask;
            hash = hash.wrapping_add(word.wrapping_mul(window.factor));
        }
        let hash = self.mention_references(plan, cell, 0, base, hash, bytes);
        if bag.flat {
            self.close_edge(hash);
            return;
        }
        let vertex = self.keys.len() as u32;
        self.keys.push(bag.seed);
        self.mention(vertex, CONTAINER);
        self.close_edge(hash);
        for cell in &region.cells[1..] {
            self.read_cells(plan, cell, base, Some(vertex), bytes);
        }
        for bag in &region.bags {
            self.read_bag(plan, bag, base, Some(vertex), bytes);
        }
    }

    #[inline(always)]
    fn key(&mut self, vertex: u32, part: u64) {
        let key = &mut self.keys[vertex as usize];
        *key = key.wrapping_add(part);
    }

    #[inline(always)]
    fn mention(&mut self, vertex: u32, role: u64) {
        self.mentions.push(Mention { role, vertex });
    }

    /// Makes an edge of the mentions since the last one.
    #[inline]
    fn close_edge(&mut self, hash: u64) {
        let start = self.edges.last().map_or(0, |edge| edge.end as usize);
        let mentions = &self.mentions[start..];
        let Some(first) = mentions.first() else { return };
        let mut hash = fold(hash);
        let mut several = false;
        for (position, mention) in mentions.iter().enumerate().skip(1) {
            several |= mention.vertex != first.vertex;
            for (earlier, other) in mentions[..position.min(COMPARED)].iter().enumerate() {
                if other.vertex == mention.vertex {
                    hash = hash.wrapping_add(fold((earlier * COMPARED + position) as u64));
                }
            }
        }
        for mention in mentions {
            let key = &mut self.keys[mention.vertex as usize];
            *key = key.wrapping_add(fold(hash ^ mention.role));
            if let Some(linked) = self.linked.get_mut(mention.vertex as usize) {
                *linked = true;
            }
        }
        match several {
            true => self.edges.push(Edge { hash, end: self.mentions.len() as u32 }),
            false => self.mentions.truncate(start),
        }
    }
}
