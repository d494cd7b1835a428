//! Which functions call each other in a circle.
//!
//! Tarjan's algorithm for strongly connected components, without recursion. Components come callees
//! first and otherwise in the order of the source; a component of one function is recursive only if
//! that function calls itself. Linear in functions and calls.

/// Functions that call each other in a circle, or one alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// The functions, in the order of the source.
    pub(super) functions: Vec<usize>,
    /// Whether they call each other, or the only one calls itself.
    pub(super) is_recursive: bool,
}

/// What has been found out about a function.
#[derive(Debug, Clone, Copy)]
struct Visited {
    /// How many functions were met before it.
    number: usize,
    /// The least number of a function that it reaches and whose component is not complete.
    low: usize,
    /// Whether its component is not complete.
    is_open: bool,
}

/// The components of a program whose functions make these calls.
pub(super) fn components(calls: &[Vec<usize>]) -> Vec<Component> {
    let mut visited: Vec<Option<Visited>> = vec![None; calls.len()];
    let mut met = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for root in 0..calls.len() {
        if visited[root].is_some() {
            continue;
        }
        // Each function on the path, and which of its calls is followed next.
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&(function, next)) = path.last() {
            let here = *visited[function].get_or_insert_with(|| {
                open.push(function);
                met += 1;
                Visited { number: met - 1, low: met - 1, is_open: true }
            });
            if let Some(&callee) = calls[function].get(next) {
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                match visited[callee] {
                    None => path.push((callee, 0)),
                    Some(there) if there.is_open => {
                        lower(&mut visited[function], there.number);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                lower(&mut visited[caller], here.low);
            }
            if here.low == here.number {
                found.push(complete(function, calls, &mut open, &mut visited));
            }
        }
    }
    found
}

fn lower(visited: &mut Option<Visited>, low: usize) {
    if let Some(visited) = visited {
        visited.low = visited.low.min(low);
    }
}

/// Takes the component whose first function is `first` from the open ones.
fn complete(
    first: usize,
    calls: &[Vec<usize>],
    open: &mut Vec<usize>,
    visited: &mut [Option<Visited>],
) -> Component {
    let at = open.iter().rposition(|&function| function == first).unwrap_or(0);
    let mut functions = open.split_off(at);
    functions.sort_unstable();
    for &function in &functions {
        if let Some(visited) = &mut visited[function] {
            visited.is_open = false;
        }
    }
    let is_recursive = functions.len() > 1 || calls[first].contains(&first);
    Component { functions, is_recursive }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(calls: &[&[usize]]) -> Vec<(Vec<usize>, bool)> {
        let calls: Vec<Vec<usize>> = calls.iter().map(|calls| calls.to_vec()).collect();
        let components = components(&calls).into_iter();
        components.map(|found| (found.functions, found.is_recursive)).collect()
    }

    #[test]
    fn callees_come_first_and_otherwise_the_order_of_the_source_is_kept() {
        let alone = |function| (vec![function], false);
        assert_eq!(of(&[&[], &[], &[0]]), [alone(0), alone(1), alone(2)]);
        assert_eq!(of(&[&[2], &[], &[1]]), [alone(1), alone(2), alone(0)]);
    }

    #[test]
    fn circles_are_one_component() {
        assert_eq!(of(&[&[0]]), [(vec![0], true)]);
        assert_eq!(of(&[&[1], &[2, 3], &[0], &[]]), [(vec![3], false), (vec![0, 1, 2], true)]);
        // Two circles, one of which calls the other.
        assert_eq!(
            of(&[&[1], &[0, 2], &[3], &[2], &[0]]),
            [(vec![2, 3], true), (vec![0, 1], true), (vec![4], false)]
        );
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_functions_needs_no_stack() {
        let calls: Vec<Vec<usize>> =
            (0..100_000).map(|at| if at > 0 { vec![at - 1] } else { vec![] }).collect();
        assert_eq!(components(&calls).len(), 100_000);
    }
}
