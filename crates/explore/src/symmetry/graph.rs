//! Which members a state mentions together, as a hypergraph.
//!
//! Vertices are the members, nobody (never mentioned), and elements of multisets that are more
//! than one cell. An edge is a reference in a row, a cell with several indices, or an element of a
//! multiset, and mentions at least two vertices, each in a role. It is only read for states whose
//! members have equal [keys](super::keys).

use super::bytes::load;
use super::hash::fold;
use super::keys::Keys;
use super::plan::{Bag, Cell, Plan, Region, Role};

/// The hypergraph of a state.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// For each vertex, a hash of what is said about it without naming others.
    pub(super) keys: Vec<u64>,
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
const CONTAINER: Role = Role { constant: 0x8a5c_d789_635d_2dff, rotation: 0 };

/// Equal mentions in an edge with more mentions than this are not distinguished from unequal ones.
const COMPARED: usize = 8;

impl Graph {
    /// Reads a padded state whose keys are known.
    pub(super) fn read(&mut self, plan: &Plan, keys: &Keys, bytes: &[u8]) {
        self.keys.clone_from(&keys.keys);
        self.edges.clear();
        self.mentions.clear();
        let state = plan.state();
        for cell in &state.cells {
            match cell.sets.len() {
                0 => {}
                1 => self.read_rows(plan, cell, bytes),
                _ => self.read_cells(plan, cell, 0, None, bytes),
            }
        }
        for bag in &state.bags {
            self.read_bag(plan, bag, 0, None, bytes);
        }
    }

    /// Each reference in a row is an edge.
    fn read_rows(&mut self, plan: &Plan, cell: &Cell, bytes: &[u8]) {
        let references = cell.references.len();
        if references == 0 {
            return;
        }
        let first = plan.sets[cell.sets[0]].first;
        for (owner, offsets) in (first..).zip(cell.reference_offsets.chunks_exact(references)) {
            for (reference, &at) in cell.references.iter().zip(offsets) {
                let number = load(bytes, at as usize) & reference.mask;
                let member = plan.decoders[reference.decoder as usize + number as usize];
                if member != plan.nobody() {
                    self.mention(owner, reference.owner_role);
                    self.mention(member, reference.role);
                    self.close_edge(cell.seed);
                }
            }
        }
    }

    /// Each cell is an edge, unless all that it holds is the lowest value.
    fn read_cells(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        base: usize,
        container: Option<u32>,
        bytes: &[u8],
    ) {
        for instance in 0..cell.instances {
            let (hash, lowest) = cell.hash(plan, instance, base, bytes);
            if lowest {
                continue;
            }
            if let Some(container) = container {
                self.mention(container, CONTAINER);
            }
            for (&member, &role) in cell.indices_of(instance).iter().zip(&cell.roles) {
                self.mention(member, role);
            }
            self.mention_named(plan, cell, instance, base, bytes);
            self.close_edge(hash);
        }
    }

    /// Mentions whom the references of a cell name.
    fn mention_named(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        instance: usize,
        base: usize,
        bytes: &[u8],
    ) {
        for (reference, &at) in cell.references.iter().zip(cell.references_of(instance)) {
            let number = load(bytes, base + at as usize) & reference.mask;
            let member = plan.decoders[reference.decoder as usize + number as usize];
            if member != plan.nobody() {
                self.mention(member, reference.role);
            }
        }
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
        for (instance, &offset) in bag.offsets.iter().enumerate() {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            for position in 0..count {
                let element = at + bag.elements as usize + position * bag.stride as usize;
                if let Some(container) = container {
                    self.mention(container, bag.container_role);
                }
                for (&member, &role) in bag.indices_of(instance).iter().zip(&bag.roles) {
                    self.mention(member, role);
                }
                self.read_element(plan, bag, region, element, bytes);
            }
        }
    }

    fn read_element(&mut self, plan: &Plan, bag: &Bag, region: &Region, base: usize, bytes: &[u8]) {
        let cell = &region.cells[0];
        let (hash, _) = cell.hash(plan, 0, base, bytes);
        self.mention_named(plan, cell, 0, base, bytes);
        if bag.flat {
            self.close_edge(hash ^ bag.seed);
            return;
        }
        let vertex = self.keys.len() as u32;
        self.keys.push(bag.seed);
        self.mention(vertex, CONTAINER);
        self.close_edge(hash ^ bag.seed);
        for cell in &region.cells[1..] {
            self.read_cells(plan, cell, base, Some(vertex), bytes);
        }
        for bag in &region.bags {
            self.read_bag(plan, bag, base, Some(vertex), bytes);
        }
    }

    #[inline(always)]
    fn mention(&mut self, vertex: u32, role: Role) {
        self.mentions.push(Mention { role: role.constant, vertex });
    }

    /// Makes an edge of the mentions since the last one, if they are of different vertices; a
    /// vertex that is mentioned twice learns that.
    fn close_edge(&mut self, hash: u64) {
        let start = self.edges.last().map_or(0, |edge| edge.end as usize);
        let mentions = &self.mentions[start..];
        let mut hash = fold(hash);
        for (position, mention) in mentions.iter().enumerate().skip(1) {
            for (earlier, other) in mentions[..position.min(COMPARED)].iter().enumerate() {
                if other.vertex == mention.vertex {
                    hash = hash.wrapping_add(fold((earlier * COMPARED + position) as u64));
                    let key = &mut self.keys[mention.vertex as usize];
                    *key = key.wrapping_add(fold(hash ^ mention.role));
                }
            }
        }
        if mentions.iter().any(|mention| mention.vertex != mentions[0].vertex) {
            self.edges.push(Edge { hash, end: self.mentions.len() as u32 });
        } else {
            self.mentions.truncate(start);
        }
    }
}
