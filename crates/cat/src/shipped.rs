//! The models that come with Tribunal, as text.

/// What every model may use.
pub(crate) const PRELUDE: &str = include_str!("prelude.cat");

/// What several models include.
const PARTS: &[(&str, &str)] = &[
    ("barriers", include_str!("../models/barriers.cat")),
    ("filters", include_str!("../models/filters.cat")),
    ("x86fences", include_str!("../models/x86fences.cat")),
];

/// The models, by their names.
const MODELS: &[(&str, &str)] = &[
    ("sc", include_str!("../models/sc.cat")),
    ("tso", include_str!("../models/tso.cat")),
    ("pso", include_str!("../models/pso.cat")),
    ("wmo", include_str!("../models/wmo.cat")),
    ("rmo", include_str!("../models/rmo.cat")),
    ("coherence", include_str!("../models/coherence.cat")),
    ("rvwmo", include_str!("../models/rvwmo.cat")),
    ("rvtso", include_str!("../models/rvtso.cat")),
    ("aarch64", include_str!("../models/aarch64.cat")),
    ("aarch64-2020", include_str!("../models/aarch64-2020.cat")),
    ("x86", include_str!("../models/x86.cat")),
    ("ra", include_str!("../models/ra.cat")),
    ("lin", include_str!("../models/lin.cat")),
];

/// The names of the shipped models.
pub fn shipped_models() -> impl ExactSizeIterator<Item = &'static str> {
    MODELS.iter().map(|&(name, _)| name)
}

/// The text of a shipped model, or of a part that several include (`barriers`).
pub fn shipped_text(name: &str) -> Option<&'static str> {
    file(name.strip_suffix(".cat").unwrap_or(name))
}

/// The text of a shipped model.
pub(crate) fn model(name: &str) -> Option<&'static str> {
    MODELS.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

/// The text of a shipped file that a model may include: another model, or a part of several.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    let part = || PARTS.iter().find(|(known, _)| *known == name).map(|&(_, text)| text);
    model(name).or_else(part)
}
