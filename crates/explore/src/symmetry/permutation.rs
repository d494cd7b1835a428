//! Renamings of the members of scalarsets.

use murphi::ir::TypeId;

use super::plan::Set;

/// A permutation of each scalarset of a model that occurs in its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    sets: Vec<Set>,
    /// Each member's image, members of all sets in a row, then one for nobody.
    image: Vec<u32>,
}

impl Permutation {
    pub(super) fn new(sets: &[Set], image: &[u32]) -> Permutation {
        Permutation { sets: sets.to_vec(), image: image.to_vec() }
    }

    pub(super) fn images(&self) -> &[u32] {
        &self.image
    }

    /// Whom a member of a scalarset, counted from 0, becomes. Scalarsets that do not occur in the
    /// state are not permuted.
    pub fn image(&self, scalarset: TypeId, member: u32) -> u32 {
        match self.sets.iter().find(|set| set.ty == scalarset) {
            Some(set) if member < set.size => self.image[(set.first + member) as usize] - set.first,
            _ => member,
        }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.image.iter().enumerate().all(|(member, &image)| member as u32 == image)
    }

    /// This one first, then `next`: both of the same canonicalizer.
    pub fn then(&self, next: &Permutation) -> Permutation {
        let image = self.image.iter().map(|&member| next.image[member as usize]).collect();
        Permutation { sets: self.sets.clone(), image }
    }

    /// The permutation that undoes this one.
    pub fn inverse(&self) -> Permutation {
        let mut image = vec![0; self.image.len()];
        for (member, &to) in self.image.iter().enumerate() {
            image[to as usize] = member as u32;
        }
        Permutation { sets: self.sets.clone(), image }
    }
}
