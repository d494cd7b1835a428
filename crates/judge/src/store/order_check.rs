//! Whether a total order of accesses follows edges, told as they are made and without keeping them.
//!
//! An order that every edge follows shows that the edges have no cycle. A fence or gathering node
//! is no access: it stands for whatever leads to it, of which the last in the order counts, so an
//! edge from it holds if that one comes first. For that, edges to such a node have to be made before
//! edges from it; where a later one would change what was already asked, the answer is no. "Yes" is
//! therefore always true; "no" may only mean that another order has to be tried. O(1) an edge.

use evidence::Because;
use history::{EventId, History, Source};

use super::graph::{EdgeSink, NodeId};

/// The node is no access.
const STANDS_FOR_OTHERS: u32 = 1 << 31;
/// An edge from it has been checked.
const WAS_ASKED: u32 = 1 << 30;
/// The bits of a place, from 1; 0 stands for nothing before it.
const PLACE: u32 = WAS_ASKED - 1;

/// A total order of all accesses, and whether all edges so far follow it.
pub(crate) struct OrderCheck {
    /// By node.
    places: Vec<u32>,
    holds: bool,
}

impl OrderCheck {
    /// Nothing if some access is not in the order exactly once.
    pub(crate) fn new(history: &History, order: &[EventId]) -> Option<Self> {
        if order.len() >= PLACE as usize {
            return None;
        }
        let mut places = vec![STANDS_FOR_OTHERS; history.len()];
        for (at, event) in (1..).zip(order) {
            let place = &mut places[event.index()];
            if *place != STANDS_FOR_OTHERS {
                return None;
            }
            *place = at;
        }
        let is_placed = |event: EventId| places[event.index()] != STANDS_FOR_OTHERS;
        let all = history.event_ids().all(|e| is_placed(e) == history.address_of(e).is_some());
        all.then_some(Self { places, holds: true })
    }

    /// Whether all edges follow the order.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Where a source stands in the order, from 1; an initial value comes before all.
    pub(crate) fn place_of(&self, source: Source) -> u32 {
        match source {
            Source::Initial => 0,
            Source::Write(write) => self.places[write.index()],
        }
    }

    /// Whether one access comes before another in the order.
    pub(crate) fn is_before(&self, first: EventId, second: EventId) -> bool {
        self.places[first.index()] < self.places[second.index()]
    }
}

impl EdgeSink for OrderCheck {
    fn gather(&mut self, _: Because) -> NodeId {
        self.places.push(STANDS_FOR_OTHERS);
        (self.places.len() - 1) as NodeId
    }

    #[inline]
    fn fix(&mut self, from: NodeId, to: NodeId, _: Because) {
        let place = self.places[from as usize] & PLACE;
        if self.places[from as usize] & STANDS_FOR_OTHERS != 0 {
            self.places[from as usize] |= WAS_ASKED;
        }
        let target = &mut self.places[to as usize];
        if *target & STANDS_FOR_OTHERS == 0 {
            self.holds &= place < *target;
        } else if place > *target & PLACE {
            self.holds &= *target & WAS_ASKED == 0;
            *target = *target & !PLACE | place;
        }
    }
}

#[cfg(test)]
mod tests {
    use evidence::Because;
    use history::{EventId, History, parse_text};

    use super::OrderCheck;
    use crate::store::graph::EdgeSink;

    /// Four accesses of one thread, and a fence.
    fn history() -> History {
        parse_text("0: x := 1\n0: x := 2\n0: x := 3\n0: x := 4\n0: sync\n").unwrap()
    }

    fn check(order: &[usize]) -> Option<OrderCheck> {
        let order: Vec<EventId> = order.iter().map(|&at| EventId::new(at)).collect();
        OrderCheck::new(&history(), &order)
    }

    #[test]
    fn an_order_has_every_access_once() {
        assert!(check(&[3, 1, 0, 2]).is_some());
        for wrong in [&[0, 1, 2][..], &[0, 1, 2, 2], &[0, 1, 2, 3, 3], &[0, 1, 2, 3, 4]] {
            assert!(check(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn edges_between_accesses_follow_the_order_or_do_not() {
        let mut order = check(&[3, 1, 0, 2]).unwrap();
        order.fix(3, 1, Because::ProgramOrder);
        order.fix(1, 2, Because::ProgramOrder);
        assert!(order.holds());
        order.fix(0, 1, Because::ProgramOrder);
        assert!(!order.holds());
    }

    #[test]
    fn a_node_stands_for_the_last_of_what_leads_to_it() {
        for (to, holds) in [(0, true), (2, false), (1, false)] {
            let mut order = check(&[1, 2, 0, 3]).unwrap();
            let inner = order.gather(Because::ProgramOrder);
            order.fix(2, inner, Because::ProgramOrder);
            order.fix(1, inner, Because::ProgramOrder);
            // Node 4 is the fence.
            order.fix(inner, 4, Because::Fence);
            order.fix(4, to, Because::Fence);
            assert_eq!(order.holds(), holds, "{to}");
        }
    }

    #[test]
    fn what_leads_to_a_node_that_was_asked_is_not_left_out() {
        let mut order = check(&[1, 2, 0, 3]).unwrap();
        order.fix(1, 4, Because::Fence);
        order.fix(4, 2, Because::Fence);
        assert!(order.holds());
        order.fix(0, 4, Because::Fence);
        assert!(!order.holds());
    }
}
