//! The flags for continuous integration, each with the help it prints.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// What GitLab calls a Code Quality report by default.
const CODE_QUALITY: &str = "gl-code-quality-report.json";

/// Results for CI systems.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Continuous integration")]
pub(crate) struct CiFlags {
    /// Write a JUnit XML file with one case for each trace, model or test.
    ///
    /// A violation is a failure with its explanation; an undecided case is an error. The file is written
    /// when the run ends or is interrupted.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) junit: Option<PathBuf>,

    /// Annotate violations and errors at their lines: `github`, `gitlab` or `gitlab:FILE`.
    ///
    /// `github` prints workflow commands on standard error. `gitlab` writes a Code Quality report to
    /// FILE, or to gl-code-quality-report.json.
    #[arg(long, value_name = "WHERE", hide_short_help = true)]
    pub(crate) annotate: Option<Annotate>,
}

/// Where annotations go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Annotate {
    /// To standard error, for GitHub.
    Github,
    /// To a file, for GitLab.
    Gitlab(PathBuf),
}

impl FromStr for Annotate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("gitlab:")) {
            ("github", _) => Ok(Annotate::Github),
            ("gitlab", _) => Ok(Annotate::Gitlab(CODE_QUALITY.into())),
            (_, Some(file)) if !file.is_empty() => Ok(Annotate::Gitlab(file.into())),
            _ => Err("use `github`, `gitlab` or `gitlab:FILE`".to_owned()),
        }
    }
}
