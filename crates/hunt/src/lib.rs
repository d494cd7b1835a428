//! What does a campaign find? Tests are generated, run, judged, shrunk and explained until someone
//! says stop.
//!
//! A [`Plan`] says which test comes when, a [`Campaign`] puts them through workers, a [`CampaignLog`]
//! keeps what came of them in a folder that survives the process, and the tables of [`Coverage`]
//! say what was exercised and what was not. A [`Session`] is all of these, with the name and the
//! options that make it the same campaign when it is asked for again.
//!
//! Smaller questions are answered by the same parts: [`target`] makes whatever a program can be run
//! on, [`Judged`] judges what came of one program, and [`Walks`] judges random walks of a protocol.
//!
//! ```
//! use std::ops::ControlFlow;
//! use stress::{Machine, MemoryModel};
//! use tribunal_hunt::{Abilities, CampaignEvent, Campaign, KnownShapes, Plan, TargetSupply, TestOptions};
//!
//! // Is the machine of tso sequentially consistent?
//! let campaign = Campaign {
//!     model: models::Model::Sc.into(),
//!     target: "machine:tso".into(),
//!     plan: Plan::new(TestOptions::default(), Abilities::machine(2))?,
//!     first: 0,
//!     until: Some(20),
//!     jobs: 2,
//! };
//! let supply = TargetSupply::Each(Box::new(|| Ok(Box::new(Machine::new(MemoryModel::Tso)))));
//! let mut names = Vec::new();
//! campaign.run(&supply, &KnownShapes::default(), &mut |event| {
//!     if let CampaignEvent::TestOutcome(outcome) = event {
//!         names.extend(outcome.findings.into_iter().map(|finding| finding.name));
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! assert!(names.iter().any(|name| name == "SB"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod campaign;
mod campaign_log;
mod convert;
mod coverage;
mod finding;
mod folder;
mod judged;
mod page;
mod plan;
mod reduce;
mod separate;
mod session;
mod shape;
mod summary;
mod targets;
mod walks;

pub use campaign::{
    BoxedTarget, Campaign, CampaignEvent, KnownShapes, PendingTests, TargetSupply, TestOutcome,
    Totals,
};
pub use campaign_log::{CampaignLog, State};
pub use convert::{Converted, NotAProgram, program_of};
pub use coverage::{COMMUNICATIONS, Coverage, LINKS, Litmus, PAIRS, WAYS};
pub use finding::{Finding, Kind};
pub use folder::{Folder, FolderError, SavedFinding};
pub use judged::{Judged, unfinished};
pub use plan::{Abilities, Plan, PlanError, Planned, TestOptions};
pub use separate::{Separating, Separation, separate};
pub use session::{HuntError, HuntOptions, Session, StopConditions};
pub use shape::{name, shape};
pub use summary::Summary;
pub use targets::{NoTarget, TargetOptions, supply, target};
pub use walks::{WalkReport, Walked, Walks};

/// Something as JSON in one line, without the newline.
fn json_line(value: &impl serde::Serialize) -> String {
    // Reports have strings for keys, and no value that cannot be serialised.
    serde_json::to_string(value).expect("a report has a JSON form")
}
