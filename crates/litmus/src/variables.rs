//! The observed places of a test as variables of its outcomes.
//!
//! Variables are numbered in about the order in which they are settled: the first register of every
//! thread before the second of any, memory last. Sets of outcomes are then changed near the top.

use crate::flow;
use crate::lower::{self, Cell};
use crate::test::{Litmus, LocationId, Place, Type};
use crate::widths;

#[derive(Clone)]
pub(crate) struct Variables {
    /// The observed places in the order in which they are shown.
    pub(crate) places: Vec<Place>,
    /// What each of them is.
    pub(crate) kinds: Vec<Type>,
    /// The variable of each place.
    pub(crate) of_place: Vec<u32>,
    /// What each location is.
    pub(crate) locations: Vec<Type>,
    /// Observed locations with their variables.
    pub(crate) memory: Vec<(LocationId, u32)>,
    /// For each variable, its place.
    of_variable: Vec<u32>,
}

impl Variables {
    pub(crate) fn new(test: &Litmus) -> Self {
        let places = test.observed();
        let locations = widths::of_locations(test);
        let kinds: Vec<Type> = places.iter().map(|&place| widths::of_place(test, place)).collect();
        let ranks: Vec<usize> = places.iter().map(|&place| rank(test, place)).collect();
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        order.sort_by_key(|&place| (ranks[place as usize], place));
        let mut of_place = vec![0; places.len()];
        for (variable, &place) in order.iter().enumerate() {
            of_place[place as usize] = variable as u32;
        }
        let memory = places.iter().zip(&of_place).filter_map(|(place, &variable)| match *place {
            Place::Memory(id) => Some((id, variable)),
            Place::Register(..) => None,
        });
        let memory = memory.collect();
        Variables { places, kinds, of_place, locations, memory, of_variable: order }
    }

    /// The observed registers of a thread, as a set of cells.
    pub(crate) fn observed_cells(&self, of: usize) -> u32 {
        self.places.iter().fold(0, |cells, place| match *place {
            Place::Register(thread, register) if thread as usize == of => cells | 1 << register.0,
            _ => cells,
        })
    }

    /// The variable of an observed register.
    pub(crate) fn cell(&self, of: usize, cell: Cell) -> u32 {
        let place = self.places.iter().position(|place| match *place {
            Place::Register(thread, register) => thread as usize == of && register.0 == cell,
            Place::Memory(_) => false,
        });
        self.of_place[place.expect("only observed registers are asked for")]
    }

    /// Which of the observed places a place is.
    pub(crate) fn index(&self, place: Place) -> usize {
        let found = self.places.iter().position(|&known| known == place);
        found.expect("what a condition speaks of is observed")
    }

    /// The place of a variable.
    pub(crate) fn place_of(&self, variable: u32) -> usize {
        self.of_variable[variable as usize] as usize
    }

    /// As much of a value as a variable shows.
    pub(crate) fn cut(&self, variable: u32, value: u64) -> u64 {
        self.kinds[self.of_variable[variable as usize] as usize].size.cut(value)
    }
}

/// When a place is settled, in steps of its thread.
fn rank(test: &Litmus, place: Place) -> usize {
    let Place::Register(thread, register) = place else { return usize::MAX };
    if !test.architecture.is_x86() {
        return 0;
    }
    let steps = lower::steps(&test.threads[thread as usize]);
    let cell = 1 << register.0;
    let rest = flow::rest(&steps, cell);
    rest.iter().position(|rest| rest.settled & cell != 0).unwrap_or(steps.len())
}
