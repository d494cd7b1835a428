//! What does a campaign find? Tests are generated, run, judged, shrunk and explained until someone
//! says stop.
//!
//! A [`Plan`] says which test comes when, a [`Campaign`] puts them through workers, a [`Ledger`]
//! keeps what came of them in a folder that survives the process, and the tables of [`Coverage`]
//! say what was exercised and what was not.
//!
//! ```
//! use std::ops::ControlFlow;
//! use stress::{Machine, MemoryModel};
//! use tribunal_hunt::{Abilities, Beat, Campaign, Known, Plan, Supply, Wishes};
//!
//! // Is the machine of tso sequentially consistent?
//! let campaign = Campaign {
//!     model: models::Model::Sc,
//!     target: "machine:tso".into(),
//!     plan: Plan::new(Wishes::default(), Abilities::machine(2))?,
//!     first: 0,
//!     until: Some(20),
//!     jobs: 2,
//! };
//! let supply = Supply::Each(Box::new(|| Ok(Box::new(Machine::new(MemoryModel::Tso)))));
//! let mut names = Vec::new();
//! campaign.run(&supply, &Known::default(), &mut |beat| {
//!     if let Beat::Settled(settled) = beat {
//!         names.extend(settled.findings.into_iter().map(|finding| finding.name));
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! assert!(names.iter().any(|name| name == "SB"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod campaign;
mod coverage;
mod essence;
mod finding;
mod folder;
mod ledger;
mod plan;
mod shape;
mod summary;

pub use campaign::{Beat, BoxedTarget, Campaign, Known, Leftovers, Settled, Supply, Totals};
pub use coverage::{COMMUNICATIONS, Coverage, LINKS, Litmus, PAIRS, WAYS};
pub use finding::{Finding, Kind};
pub use folder::{Folder, FolderError, Kept};
pub use ledger::{Ledger, State};
pub use plan::{Abilities, Plan, PlanError, Planned, Wishes};
pub use shape::{name, shape};
pub use summary::Summary;
