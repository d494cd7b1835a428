//! A model from its files: includes are followed, the prelude comes first.
//!
//! An included file is looked for where the includer is, then among the models that are shipped.
//! The library files of herdtools that define the coherence order and what every model may use
//! (`cos.cat`, `stdlib.cat`, …) are never read: what they define is in our prelude, in terms of what
//! a history says.

use std::path::{Path, PathBuf};

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Source;

use crate::elaborate::elaborate;
use crate::graph::Graph;
use crate::idioms::rewrite;
use crate::parse::{Line, parse};
use crate::shipped;
use crate::syntax::{Instruction, Place, Test};

/// A model can be made of so many files; a file that includes itself reaches it.
const MOST_FILES: usize = 100;

/// Files of herdtools' library that the prelude stands for.
const IN_PRELUDE: [&str; 6] =
    ["cos.cat", "cos-opt.cat", "cross.cat", "ncos.cat", "ncross.cat", "stdlib.cat"];

/// A memory model, ready to be asked about executions.
#[derive(Debug, Clone)]
pub struct CatModel {
    name: String,
    /// The words before the first line of the file.
    title: Vec<String>,
    files: Vec<Source>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) graph: Graph,
}

/// A condition of a model.
#[derive(Debug, Clone, Copy)]
pub struct Axiom<'a> {
    /// The name behind `as`, or its number.
    pub name: &'a str,
    /// What is asked.
    pub test: Test,
    /// Whether the opposite is asked.
    pub negated: bool,
    /// The file and line it stands in.
    pub place: Place,
}

/// Something wrong with a model: the file, and what.
#[derive(Debug, Clone)]
pub struct CatError {
    /// The file.
    pub source: Source,
    /// Where in it and what.
    pub diagnostic: Box<Diagnostic>,
}

impl CatError {
    /// The error for people, with the line underlined.
    pub fn render(&self, colour: bool) -> String {
        if self.source.text.is_empty() {
            return format!("error: {}: {}\n", self.source.name, self.diagnostic.message);
        }
        self.diagnostic.render(&self.source, colour)
    }
}

impl std::fmt::Display for CatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column) = self.source.position(self.diagnostic.span.start);
        write!(f, "{}:{line}:{column}: {}", self.source.name, self.diagnostic.message)
    }
}

impl std::error::Error for CatError {}

impl CatModel {
    /// The model of a file.
    pub fn open(path: &Path) -> Result<Self, CatError> {
        let name = path.display().to_string();
        let text = read(path).map_err(|error| CatError {
            source: Source { name: name.clone(), text: String::new() },
            diagnostic: Diagnostic::error(Default::default(), format!("cannot be read: {error}"))
                .into(),
        })?;
        Self::new(Source { name, text }, path.parent())
    }

    /// The model of a name or a path: `rvwmo` is shipped, `my.cat` is a file; `tso.cat` is the
    /// shipped one if there is no such file.
    pub fn named(name: &str) -> Result<Self, CatError> {
        if let Some(shipped) = Self::shipped(name) {
            return Ok(shipped);
        }
        match name.strip_suffix(".cat").and_then(Self::shipped) {
            Some(shipped) if !Path::new(name).exists() => Ok(shipped),
            _ => Self::open(Path::new(name)),
        }
    }

    /// A model that is shipped: `sc`, `tso`, …
    pub fn shipped(name: &str) -> Option<Self> {
        let text = shipped::model(name)?;
        let source = Source { name: format!("{name}.cat"), text: text.to_owned() };
        Some(Self::new(source, None).expect("a test reads every shipped model"))
    }

    /// Whether what orders a part of a read within its thread orders the whole read, where accesses
    /// are of mixed sizes. In files for AArch64 it does not: the title says which these are.
    pub fn own_steps_reach_reads(&self) -> bool {
        !self.title.iter().any(|word| word.contains("AArch64"))
    }

    /// A model from its text; what it includes must be shipped.
    ///
    /// ```
    /// use tribunal_cat::CatModel;
    ///
    /// let model = CatModel::from_text("sc.cat", "acyclic po | rf | co | fr as sc")?;
    /// assert_eq!(model.axioms().map(|axiom| axiom.name).collect::<Vec<_>>(), ["sc"]);
    /// let wrong = CatModel::from_text("sc.cat", "acyclic po | rf | cow").unwrap_err();
    /// assert_eq!(wrong.to_string(), "sc.cat:1:19: `cow` is not defined");
    /// # Ok::<(), tribunal_cat::CatError>(())
    /// ```
    pub fn from_text(name: &str, text: &str) -> Result<Self, CatError> {
        Self::new(Source { name: name.to_owned(), text: text.to_owned() }, None)
    }

    fn new(source: Source, folder: Option<&Path>) -> Result<Self, CatError> {
        let mut loader = Loader { files: Vec::new(), instructions: Vec::new() };
        let prelude = Source { name: "prelude.cat".to_owned(), text: shipped::PRELUDE.to_owned() };
        // The model itself is file 0, also in errors; the prelude is read first and filed second.
        loader.files.push(source.clone());
        loader.include(prelude, None)?;
        let title = loader.read(source.clone(), 0, folder)?;
        let Loader { files, mut instructions } = loader;
        rewrite(&mut instructions);
        let graph = elaborate(&instructions).map_err(|mistake| CatError {
            source: files[mistake.file as usize].clone(),
            diagnostic: mistake.diagnostic.into(),
        })?;
        if graph.axioms.is_empty() {
            let message = "this model has no condition, so it would allow every execution";
            let help = "a condition is `acyclic r`, `irreflexive r` or `empty r`";
            let diagnostic = Diagnostic::error(Default::default(), message).help(help);
            return Err(CatError { source, diagnostic: diagnostic.into() });
        }
        let name = title.last().cloned().unwrap_or(source.name);
        Ok(CatModel { name, title, files, instructions, graph })
    }

    /// What the file calls the model, or the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The conditions, in the order in which they are written.
    pub fn axioms(&self) -> impl ExactSizeIterator<Item = Axiom<'_>> {
        self.graph.axioms.iter().map(|axiom| Axiom {
            name: &axiom.name,
            test: axiom.test,
            negated: axiom.negated,
            place: axiom.place,
        })
    }

    /// The lines of all files in the order in which they are read, the prelude first.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// A digest of the text of all files, by which a certificate says which model it is about.
    pub fn digest(&self) -> String {
        let fold = |hash: u128, byte: u8| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        };
        let ends = std::iter::once(0u8);
        let bytes = self.files.iter().flat_map(|file| file.text.bytes().chain(ends.clone()));
        format!("{:032x}", bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, fold))
    }

    /// The comment that stands behind a place on its last line: `rule 5: acquire`.
    pub fn comment_beside(&self, place: Place) -> Option<&str> {
        let text = &self.files[place.file as usize].text;
        let rest = text.get(place.span.end as usize..)?.lines().next()?;
        let (_, comment) = rest.split_once("(*")?;
        Some(comment.split_once("*)")?.0.trim()).filter(|comment| !comment.is_empty())
    }

    /// `file:line` of a place.
    pub fn line_of(&self, place: Place) -> String {
        let source = &self.files[place.file as usize];
        format!("{}:{}", source.name, source.position(place.span.start).0)
    }

    /// What stands at a place.
    pub fn text_at(&self, place: Place) -> &str {
        self.files[place.file as usize].slice(place.span)
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    /// Longer files are no models.
    const LONGEST: u64 = 16 << 20;
    let length = std::fs::metadata(path)?.len();
    if length > LONGEST {
        return Err(std::io::Error::other("the file is larger than 16 MiB"));
    }
    let bytes = std::fs::read(path)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("the file is not text (UTF-8)"))
}

struct Loader {
    files: Vec<Source>,
    instructions: Vec<Instruction>,
}

impl Loader {
    /// Files a source and reads it.
    fn include(&mut self, source: Source, folder: Option<&Path>) -> Result<(), CatError> {
        let number = self.files.len() as u32;
        self.files.push(source.clone());
        self.read(source, number, folder).map(|_| ())
    }

    /// Reads a file and what it includes; the words of its title.
    fn read(
        &mut self,
        source: Source,
        number: u32,
        folder: Option<&Path>,
    ) -> Result<Vec<String>, CatError> {
        let failed = |diagnostic: Diagnostic| CatError {
            source: source.clone(),
            diagnostic: diagnostic.into(),
        };
        let parsed = parse(&source, number).map_err(|mut problems| failed(problems.remove(0)))?;
        for line in parsed.lines {
            match line {
                Line::Instruction(instruction) => self.instructions.push(instruction),
                Line::Include { file, .. } if IN_PRELUDE.contains(&file.as_str()) => {}
                Line::Include { file, place } => {
                    let Some((text, inner)) = find(&file, folder) else {
                        let message = format!("the included file `{file}` does not exist");
                        let help = "included files are searched beside this file and among the \
                                    shipped models";
                        return Err(failed(Diagnostic::error(place.span, message).help(help)));
                    };
                    if self.files.len() >= MOST_FILES {
                        let message = format!("more than {MOST_FILES} files are included");
                        return Err(failed(Diagnostic::error(place.span, message)));
                    }
                    self.include(Source { name: file, text }, inner.as_deref())?;
                }
            }
        }
        Ok(parsed.title)
    }
}

/// The text of an included file, and the folder that it is in.
fn find(file: &str, folder: Option<&Path>) -> Option<(String, Option<PathBuf>)> {
    let beside = folder.map(|folder| folder.join(file));
    if let Some(path) = beside.filter(|path| path.is_file()) {
        return Some((read(&path).ok()?, path.parent().map(Path::to_owned)));
    }
    let text = file.strip_suffix(".cat").and_then(shipped::file)?;
    Some((text.to_owned(), None))
}
