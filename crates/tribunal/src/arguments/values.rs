//! Values of flags that have names: models (from the table, shipped files, files by path), engines,
//! formats and others, with the help that lists them.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use history::{DiscardedAmo, Format, Misaligned, ThinAir, Xlen};
use judge::{AnyModel, Engine, ModelFile};
use models::Model;
use stress::Assembly;

use crate::ending::Failure;

pub(super) fn model_values() -> Vec<PossibleValue> {
    Model::ALL.map(|m| PossibleValue::new(m.name()).help(m.summary())).to_vec()
}

/// A model of `check`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ModelArgument {
    /// One model.
    One(SingleModel),
    /// The strongest models that allow the trace.
    Gradual,
}

/// A model by its name or its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SingleModel {
    /// A built-in model.
    Model(Model),
    /// A model file.
    File(PathBuf),
    /// A model that comes as a file with the program.
    Shipped(&'static str),
}

impl SingleModel {
    /// The model; a model file is read.
    pub(crate) fn memory_model(&self) -> Result<AnyModel, Failure> {
        match self {
            SingleModel::Model(model) => Ok(AnyModel::Model(*model)),
            SingleModel::File(path) => match ModelFile::open(path) {
                Ok(file) => Ok(file.into()),
                Err(error) => Err(Failure::Model(Box::new(error))),
            },
            SingleModel::Shipped(name) => match ModelFile::shipped(name) {
                Some(file) => Ok(file.into()),
                None => Err(Failure::Usage(format!("unknown model `{name}`"))),
            },
        }
    }

    fn named(name: &str) -> Result<Self, models::UnknownModel> {
        match shipped_models().find(|shipped| *shipped == name) {
            Some(shipped) => Ok(SingleModel::Shipped(shipped)),
            None => name.parse().map(SingleModel::Model),
        }
    }
}

/// The shipped models that are not built in.
pub(super) fn shipped_models() -> impl Iterator<Item = &'static str> {
    cat::shipped_models().filter(|name| name.parse::<Model>().is_err())
}

/// Parses names of models; a name that ends in `.cat` is a file.
#[derive(Clone)]
struct ModelOrFile(PossibleValuesParser);

pub(super) fn model_or_file_parser() -> impl TypedValueParser<Value = ModelArgument> {
    let gradual = PossibleValue::new("gradual").help("the strongest models that allow the trace");
    ModelOrFile(PossibleValuesParser::new(single_model_values().chain([gradual])))
}

/// As above, without `gradual`.
pub(super) fn single_model_parser() -> impl TypedValueParser<Value = SingleModel> {
    let one = |argument| match argument {
        ModelArgument::One(memory_model) => Ok(memory_model),
        ModelArgument::Gradual => Err("`gradual` is for `check` only; name one model"),
    };
    ModelOrFile(PossibleValuesParser::new(single_model_values())).try_map(one)
}

pub(super) fn single_model_values() -> impl Iterator<Item = PossibleValue> {
    let shipped = shipped_models().map(|name| PossibleValue::new(name).help(shipped_title(name)));
    model_values().into_iter().chain(shipped)
}

/// The title of a shipped model: the first line of its file.
pub(super) fn shipped_title(name: &str) -> String {
    cat::CatModel::shipped(name).map_or_else(String::new, |model| model.name().to_owned())
}

impl TypedValueParser for ModelOrFile {
    type Value = ModelArgument;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ModelArgument, clap::Error> {
        if value.as_encoded_bytes().ends_with(b".cat") {
            return Ok(ModelArgument::One(SingleModel::File(value.into())));
        }
        let names = self.0.clone().try_map(|name| match &*name.to_ascii_lowercase() {
            "gradual" => Ok(ModelArgument::Gradual),
            name => SingleModel::named(name).map(ModelArgument::One),
        });
        names.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

pub(super) fn engine_parser() -> impl TypedValueParser<Value = Engine> {
    let rows = Engine::ALL.iter();
    let values = rows.map(|&(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Formats that can be written.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let written = Format::ALL.iter().filter(|format| format.is_written());
    PossibleValuesParser::new(written.map(|format| format.name())).try_map(|name| name.parse())
}

/// The output of `convert`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConvertTo {
    /// Traces in this format.
    Traces(Format),
    /// The test program of a litmus test.
    Program,
    /// The litmus test of a program, for this architecture.
    Litmus(Assembly),
}

pub(super) fn convert_parser() -> impl TypedValueParser<Value = ConvertTo> {
    let written = Format::ALL.iter().filter(|format| format.is_written());
    let traces =
        written.map(|format| PossibleValue::new(format.name()).help("traces from any format"));
    let program = PossibleValue::new("program").help("a test program from a litmus test");
    let litmus = Assembly::ALL.iter().map(|(name, _)| {
        PossibleValue::new(*name).help("a litmus test for this architecture from a test program")
    });
    PossibleValuesParser::new(traces.chain([program]).chain(litmus)).try_map(|name| {
        match (&*name, name.parse::<Assembly>()) {
            ("program", _) => Ok(ConvertTo::Program),
            (_, Ok(assembly)) => Ok(ConvertTo::Litmus(assembly)),
            (name, Err(_)) => name.parse().map(ConvertTo::Traces),
        }
    })
}

/// Formats that can be read; there are more than can be written.
pub(super) fn input_format_parser() -> impl TypedValueParser<Value = Format> {
    let all = Format::ALL.iter();
    let values = all.map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

pub(super) fn thin_air_parser() -> impl TypedValueParser<Value = ThinAir> {
    let malformed = PossibleValue::new("malformed").help("bad input, exit code 2");
    let violation = PossibleValue::new("violation").help("a violation of every model");
    PossibleValuesParser::new([malformed, violation]).map(|name| match &*name {
        "violation" => ThinAir::Violation,
        _ => ThinAir::Malformed,
    })
}

pub(super) fn misaligned_parser() -> impl TypedValueParser<Value = Misaligned> {
    let atomic =
        PossibleValue::new("atomic").help("one access, which takes effect at one point in time");
    let split = PossibleValue::new("split").help("one access for each byte");
    PossibleValuesParser::new([atomic, split]).map(|name| match &*name {
        "split" => Misaligned::Split,
        _ => Misaligned::Atomic,
    })
}

pub(super) fn discarded_amo_parser() -> impl TypedValueParser<Value = DiscardedAmo> {
    let recorded = PossibleValue::new("recorded")
        .help("the AMO read the last value in the log for its address");
    let store = PossibleValue::new("store").help("the AMO counts as a store");
    PossibleValuesParser::new([recorded, store]).map(|name| match &*name {
        "store" => DiscardedAmo::Store,
        _ => DiscardedAmo::Recorded,
    })
}

pub(super) fn xlen_parser() -> impl TypedValueParser<Value = Xlen> {
    PossibleValuesParser::new(["32", "64"]).map(|bits| match &*bits {
        "32" => Xlen::Rv32,
        _ => Xlen::Rv64,
    })
}

pub(super) fn axe_model(name: &str) -> Result<Model, String> {
    if name.eq_ignore_ascii_case("pow") {
        let advice = "axe's POW model is not supported; the closest models weaker than TSO are";
        return Err(format!("{advice} wmo and rmo"));
    }
    name.parse().map_err(|unknown: models::UnknownModel| unknown.to_string())
}
