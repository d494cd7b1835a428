//! How a search went, for the plots of a page: states by depth, states and memory over time, and what
//! symmetry may have saved.

use explore::report::{SearchOrder, Totals};
use explore::symmetry::Symmetry;
use explore::{Depths, Size};
use murphi::ir::{Model, Simple, TypeKind};
use serde::Serialize;

/// The data of the plots.
#[derive(Serialize)]
pub(super) struct SearchData<'a> {
    order: SearchOrder,
    totals: &'a Totals,
    /// The most memory, in bytes.
    bytes: u64,
    depths: &'a Depths,
    growth: &'a [(f64, Size)],
    symmetry: SymmetryData,
}

/// The symmetry of the search.
#[derive(Serialize)]
struct SymmetryData {
    on: bool,
    scalarsets: Vec<ScalarsetData>,
    /// The largest number of states that one stored state stands for: the product of the
    /// permutations.
    most: f64,
}

/// A scalarset of the model.
#[derive(Serialize)]
struct ScalarsetData {
    name: String,
    members: u32,
    /// Whether its members are interchangeable: the order of some may show.
    reduced: bool,
}

impl<'a> SearchData<'a> {
    pub(super) fn of(report: &'a explore::Report, model: &Model) -> Self {
        let bytes = report.growth.iter().map(|(_, size)| size.bytes).max();
        SearchData {
            order: report.settings.search,
            totals: &report.totals,
            bytes: bytes.unwrap_or_default(),
            depths: &report.depths,
            growth: &report.growth,
            symmetry: symmetry(report, model),
        }
    }
}

fn symmetry(report: &explore::Report, model: &Model) -> SymmetryData {
    let on = report.settings.symmetry == Symmetry::Full;
    let asymmetric = &report.settings.asymmetric;
    let scalarsets = model.types.iter().filter_map(|ty| match ty.kind {
        TypeKind::Simple(Simple::Scalarset(members)) => {
            let name = ty.name.clone().unwrap_or_else(|| "a scalarset".to_owned());
            let reduced = on && !asymmetric.contains(&name);
            Some(ScalarsetData { name, members, reduced })
        }
        _ => None,
    });
    let scalarsets: Vec<ScalarsetData> = scalarsets.collect();
    let reduced = scalarsets.iter().filter(|set| set.reduced);
    let most = reduced.flat_map(|set| 1..=set.members).map(f64::from).product();
    SymmetryData { on, scalarsets, most }
}
