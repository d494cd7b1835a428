//! States that differ only in which member of a scalarset is which.
//!
//! Let π exchange members of a scalarset whose order shows nowhere (`Model::ordered` of the checker
//! names those whose order may show). Nothing in a program names a member, so if σ → σ' is a step then
//! so is πσ → πσ', a claim that fails in σ fails in πσ, a rule that fails in σ fails in πσ, and π of a
//! start state is one. Hence π of a reachable state is reachable, and if nothing fails in a state then
//! nothing fails in any that is π of it: of each such set of states, its *orbit*, one is enough. It does
//! not matter which; the least is taken, so that the states of an orbit can be counted: there are as
//! many as permutations, divided by those that leave the state as it is.
//!
//! A permutation moves slots of the unpacked state (elements of arrays by the scalarset change their
//! places), and renames members in them. A program with multisets has elements at positions that mean
//! nothing: it is searched as it is.

use murphi::ir::{Model, Simple, TypeId, TypeKind};
use murphi::layout::Layout;

/// The largest number of permutations.
const MOST: usize = 120;

/// The permutations of a program.
pub(crate) struct Symmetry {
    /// All permutations except the identity.
    permutations: Vec<Permutation>,
}

/// The effect of a permutation on the bytes of a state.
struct Permutation {
    moves: Vec<Move>,
    /// The tables that rename members in slots.
    tables: Vec<Vec<u64>>,
}

/// A slot and its new position.
#[derive(Clone, Copy)]
struct Move {
    from: usize,
    to: usize,
    width: usize,
    /// The number of the table that renames its value, if it holds a member.
    table: Option<usize>,
}

/// Buffers for permuting a state.
pub(crate) struct PermutationBuffer {
    image: Vec<u8>,
    least: Vec<u8>,
}

impl PermutationBuffer {
    pub(crate) fn new(size: usize) -> PermutationBuffer {
        PermutationBuffer { image: vec![0; size], least: vec![0; size] }
    }
}

impl Symmetry {
    /// No permutations: every state is visited.
    #[cfg(test)]
    pub(crate) fn none() -> Symmetry {
        Symmetry { permutations: Vec::new() }
    }

    /// The permutations of the scalarsets whose order has no effect.
    pub(crate) fn of(model: &Model, layout: &Layout) -> Symmetry {
        let mut names = vec![identity(model)];
        if !model.types.iter().any(|ty| matches!(ty.kind, TypeKind::Multiset { .. })) {
            for number in 0..model.types.len() {
                let ty = TypeId(number as u32);
                let is_ordered = model.ordered.iter().any(|ordered| ordered.scalarset == ty);
                if let (Some(Simple::Scalarset(size)), false) = (model.simple(ty), is_ordered) {
                    let orders = orders(*size as usize, MOST / names.len());
                    names = names
                        .iter()
                        .flat_map(|names| orders.iter().map(move |order| (names.clone(), order)))
                        .map(|(mut names, order)| {
                            names[number].clone_from(order);
                            names
                        })
                        .collect();
                }
            }
        }
        let is_change = |names: &&Renaming| **names != identity(model);
        let compiled = |names: &Renaming| Permutation::of(model, layout, names);
        Symmetry { permutations: names.iter().filter(is_change).map(compiled).collect() }
    }

    /// The least state of an orbit, which represents it.
    pub(crate) fn least<'a>(&self, state: &'a [u8], room: &'a mut PermutationBuffer) -> &'a [u8] {
        if self.permutations.is_empty() {
            return state;
        }
        room.least.copy_from_slice(state);
        for permutation in &self.permutations {
            permutation.apply(state, &mut room.image);
            if room.image < room.least {
                std::mem::swap(&mut room.image, &mut room.least);
            }
        }
        &room.least
    }

    /// The number of states in an orbit.
    pub(crate) fn size(&self, state: &[u8], room: &mut PermutationBuffer) -> u64 {
        let leaves = |permutation: &&Permutation| {
            permutation.apply(state, &mut room.image);
            room.image == state
        };
        let same = self.permutations.iter().filter(leaves).count();
        ((self.permutations.len() + 1) / (same + 1)) as u64
    }
}

/// For each scalarset type, the new number of each member.
type Renaming = Vec<Vec<u64>>;

fn identity(model: &Model) -> Renaming {
    let members = |number: usize| match model.simple(TypeId(number as u32)) {
        Some(Simple::Scalarset(size)) => (0..u64::from(*size)).collect(),
        _ => Vec::new(),
    };
    (0..model.types.len()).map(members).collect()
}

/// All orders of `size` members, or only the first if there are more than `most`.
fn orders(size: usize, most: usize) -> Vec<Vec<u64>> {
    let mut orders: Vec<Vec<u64>> = vec![Vec::new()];
    for member in 0..size as u64 {
        let with = |order: &Vec<u64>| {
            let order = order.clone();
            (0..=order.len()).map(move |place| {
                let mut order = order.clone();
                order.insert(place, member);
                order
            })
        };
        orders = orders.iter().flat_map(with).collect();
        if orders.len() > most {
            return vec![(0..size as u64).collect()];
        }
    }
    orders
}

impl Permutation {
    fn of(model: &Model, layout: &Layout, names: &Renaming) -> Permutation {
        let mut made = Permutation { moves: Vec::new(), tables: Vec::new() };
        for (global, &offset) in model.globals.iter().zip(&layout.globals) {
            made.moved(model, layout, names, global.ty, (offset as usize, offset as usize));
        }
        made
    }

    /// Adds the slots of a value of a type, with its old and new offset.
    fn moved(
        &mut self,
        model: &Model,
        layout: &Layout,
        names: &Renaming,
        ty: TypeId,
        (from, to): (usize, usize),
    ) {
        let shape = layout.of_type(ty);
        match model.kind(ty) {
            TypeKind::Simple(_) => {
                let table = model.is_unordered(ty).then(|| {
                    let new = |value| renamed(model, names, ty, value) + 1;
                    // 0 stands for undefined in every table.
                    self.tables
                        .push([0].into_iter().chain((0..model.count(ty)).map(new)).collect());
                    self.tables.len() - 1
                });
                self.moves.push(Move { from, to, width: shape.size as usize, table });
            }
            TypeKind::Record(fields) => {
                for (field, &at) in fields.iter().zip(&shape.fields) {
                    let at = at as usize;
                    self.moved(model, layout, names, field.ty, (from + at, to + at));
                }
            }
            TypeKind::Array { index, element } => {
                let stride = shape.stride as usize;
                for place in 0..u64::from(shape.length) {
                    let goes = renamed(model, names, *index, place) as usize;
                    let both = (from + place as usize * stride, to + goes * stride);
                    self.moved(model, layout, names, *element, both);
                }
            }
            TypeKind::Multiset { .. } => unreachable!("there are no permutations"),
        }
    }

    fn apply(&self, state: &[u8], image: &mut [u8]) {
        for &Move { from, to, width, table } in &self.moves {
            let Some(table) = table else {
                image[to..to + width].copy_from_slice(&state[from..from + width]);
                continue;
            };
            let mut number = [0; 8];
            number[..width].copy_from_slice(&state[from..from + width]);
            let renamed = self.tables[table][u64::from_le_bytes(number) as usize];
            image[to..to + width].copy_from_slice(&renamed.to_le_bytes()[..width]);
        }
    }
}

/// The renamed value of a simple type; both are counted from the least one.
fn renamed(model: &Model, names: &Renaming, ty: TypeId, value: u64) -> u64 {
    match model.simple(ty) {
        Some(Simple::Scalarset(_)) => names[ty.0 as usize][value as usize],
        Some(Simple::Union(members)) => {
            let mut before = 0;
            for &member in members {
                let count = model.count(member);
                if value < before + count {
                    return before + renamed(model, names, member, value - before);
                }
                before += count;
            }
            value
        }
        _ => value,
    }
}
