//! What symmetry needs to know about a layout, as flat tables.
//!
//! A state is one [`Region`]; so is the element of a multiset. A region is cut into *cells*: all
//! the slots that are below the same scalarset indices. A cell without indices holds what belongs
//! to nobody, a cell with one index what belongs to one member, and so on. Cells of the same kind
//! have a fixed number of windows (eight bytes and a mask) over their plain slots and a fixed
//! number of references (slots that may name a member). For moving bytes rather than looking at
//! them, the same slots are also listed as blocks, names and bags.
//!
//! Everything here is computed once for a model; its size is that of a state.

use murphi::ir::{Model, Simple, TypeId};

use super::tables::Tables;
use super::touch::Touch;

/// A scalarset: its members are `first … first + size − 1` among the members of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) ty: TypeId,
    pub(super) first: u32,
    pub(super) size: u32,
}

impl Set {
    pub(super) fn members(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.size) as usize
    }
}

/// One index over a scalarset on the way to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    /// Which of [`Plan::sets`].
    pub(super) set: usize,
    /// Bytes from one member's part to the next.
    pub(super) stride: u32,
}

/// The tables of a layout.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The scalarsets that matter: at least two members, and in the state.
    pub(super) sets: Vec<Set>,
    /// How many members they have together.
    pub(super) members: usize,
    /// Bytes of a state.
    pub(super) size: usize,
    /// For each type of references, which member a number names (see [`Reference::decoder`]), or
    /// [`Plan::nobody`].
    pub(super) decoders: Vec<u32>,
    /// Elements before the multisets that hold them; the state comes last.
    pub(super) regions: Vec<Region>,
    /// For each set, a constant that its members start from.
    pub(super) set_seeds: Vec<u64>,
    /// For small states only.
    pub(super) tables: Option<Tables>,
    /// What each word of the state says.
    pub(super) touch: Touch,
}

/// A state, or an element of a multiset.
#[derive(Debug, Default)]
pub(super) struct Region {
    /// Bytes.
    pub(super) size: usize,
    /// The cells by kind. Of an element, the first kind is the cell without indices.
    pub(super) cells: Vec<Cell>,
    /// What moves when members are renamed.
    pub(super) blocks: Vec<Block>,
    /// What is rewritten when members are renamed.
    pub(super) names: Vec<Names>,
    /// The multisets.
    pub(super) bags: Vec<Bag>,
}

/// All cells below indices over the same scalarsets.
#[derive(Debug)]
pub(super) struct Cell {
    /// The scalarsets of its indices, outermost first.
    pub(super) sets: Vec<usize>,
    pub(super) seed: u64,
    pub(super) windows: Vec<Window>,
    pub(super) references: Vec<Reference>,
    /// For each index, its role.
    pub(super) roles: Vec<Role>,
    /// How many cells.
    pub(super) instances: usize,
    /// For each cell, the member at each index.
    pub(super) indices: Vec<u32>,
    /// For each cell, where each window is.
    pub(super) window_offsets: Vec<u32>,
    /// For each cell, where each reference is.
    pub(super) reference_offsets: Vec<u32>,
}

/// Some plain slots of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) mask: u64,
    /// What is there when every slot has its lowest value.
    pub(super) lowest: u64,
    pub(super) factor: u64,
}

/// A slot that may name a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    /// Where its decoder begins: the decoder says of each number (0 is undefined) whom it names.
    pub(super) decoder: u32,
    pub(super) mask: u64,
    /// For numbers that name nobody.
    pub(super) factor: u64,
    /// The role of who is named.
    pub(super) role: Role,
    /// Of a row: the role of its owner.
    pub(super) owner_role: Role,
}

/// How a cell mentions a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    /// Different for all roles.
    pub(super) constant: u64,
    /// Different for the roles of a cell, as far as there are enough: by how much the hash of the
    /// cell is rotated for the key of the member.
    pub(super) rotation: u32,
}

/// Bytes that move as a whole.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) axes: Vec<Axis>,
    pub(super) offset: u32,
    pub(super) length: u32,
}

/// All slots of one kind of reference.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) decoder: u32,
    pub(super) width: u32,
    pub(super) mask: u64,
    pub(super) offsets: Vec<u32>,
}

/// The cell of an element, as a word.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) plain: Window,
    pub(super) references: Vec<(u32, Reference)>,
}

/// All multisets that are one in the source, below indices over scalarsets.
#[derive(Debug)]
pub(super) struct Bag {
    pub(super) seed: u64,
    /// The bits of the count.
    pub(super) count_mask: u64,
    /// Bytes from the count to the first element.
    pub(super) elements: u32,
    pub(super) stride: u32,
    /// How many elements there is room for.
    pub(super) capacity: u32,
    /// Which of [`Plan::regions`] its elements are.
    pub(super) element: usize,
    /// Whether its elements are one cell each.
    pub(super) flat: bool,
    /// If its elements are one cell of at most eight bytes, how to read them as words.
    pub(super) short: Option<Short>,
    /// The role of the element the multiset is part of.
    pub(super) container_role: Role,
    /// For each index, its role.
    pub(super) roles: Vec<Role>,
    /// Where each multiset is.
    pub(super) offsets: Vec<u32>,
    /// For each multiset, the member at each index.
    pub(super) indices: Vec<u32>,
}

impl Plan {
    /// Stands for no member: one more than all of them, so that tables over members can have an
    /// entry for it.
    pub(super) fn nobody(&self) -> u32 {
        self.members as u32
    }

    /// The region of the state.
    pub(super) fn state(&self) -> &Region {
        self.regions.last().expect("the state is always the last region")
    }
}

impl Cell {
    /// The members at the indices of a cell.
    pub(super) fn indices_of(&self, instance: usize) -> &[u32] {
        &self.indices[instance * self.sets.len()..(instance + 1) * self.sets.len()]
    }

    /// Where the references of a cell are.
    pub(super) fn references_of(&self, instance: usize) -> &[u32] {
        let references = self.references.len();
        &self.reference_offsets[instance * references..(instance + 1) * references]
    }
}

impl Bag {
    /// The members at the indices of a multiset.
    pub(super) fn indices_of(&self, instance: usize) -> &[u32] {
        &self.indices[instance * self.roles.len()..(instance + 1) * self.roles.len()]
    }
}

/// Calls `visit` with every combination of members of the axes' sets and the distance it lies from
/// the first combination.
pub(super) fn for_each_combination(
    sets: &[Set],
    axes: &[Axis],
    mut visit: impl FnMut(&[u32], u32),
) {
    let mut indices: Vec<u32> = axes.iter().map(|axis| sets[axis.set].first).collect();
    let mut distance = 0;
    loop {
        visit(&indices, distance);
        let mut position = axes.len();
        loop {
            if position == 0 {
                return;
            }
            position -= 1;
            let (axis, set) = (axes[position], sets[axes[position].set]);
            indices[position] += 1;
            distance += axis.stride;
            if indices[position] < set.first + set.size {
                break;
            }
            indices[position] = set.first;
            distance -= axis.stride * set.size;
        }
    }
}

/// The scalarsets with at least two members that a simple type can name, each with the number that
/// its first member has.
pub(super) fn scalarsets_of(model: &Model, ty: TypeId) -> Vec<(TypeId, u32, u32)> {
    let mut found = Vec::new();
    let mut consider = |ty: TypeId, offset: u64| {
        if let Some(&Simple::Scalarset(size)) = model.simple(ty)
            && size >= 2
        {
            found.push((ty, offset as u32, size));
        }
    };
    match model.simple(ty) {
        Some(Simple::Union(members)) => {
            let mut offset = 0;
            for &member in members {
                consider(member, offset);
                offset += model.count(member);
            }
        }
        Some(_) => consider(ty, 0),
        None => {}
    }
    found
}
