//! A counterexample read back from the JSON of an exploration.
//!
//! Everything a replay needs is looked for, and what is missing or of the wrong kind is named by
//! where it is. Whether what is recorded is true is not decided here.

use serde_json::{Map, Value};

/// A recorded counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// `violation` or `deadlock`.
    pub verdict: String,
    /// `invariant`, `error`, `deadlock`, ….
    pub kind: String,
    /// The name of the property, or the message of the error.
    pub property: String,
    /// Subranges and enumerations that were treated as scalarsets.
    pub symmetric: Vec<String>,
    /// Conditions that were to stay within reach, beside those of the model.
    pub liveness: Vec<String>,
    /// Constants that were given other values.
    pub constants: Vec<(String, String)>,
    /// `cmurphi` or `rumur`, if it is said.
    pub dialect: Option<String>,
    /// How many rounds a loop may take, if it is said.
    pub loop_limit: Option<u64>,
    /// How many calls of functions that call themselves may be open, if it is said.
    pub call_limit: Option<u64>,
    /// `stuck` or `stuttering`, if it is said.
    pub deadlock: Option<String>,
    /// How the run starts.
    pub start: RecordedStart,
    /// What happens then.
    pub steps: Vec<RecordedStep>,
}

/// How a recorded run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedStart {
    /// The name of the start state.
    pub rule: String,
    /// Its parameters.
    pub bindings: Vec<(String, String)>,
    /// Every place with its value; `None` if the start state fails.
    pub state: Option<Vec<(String, String)>>,
}

/// A step of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedStep {
    /// The name of the rule.
    pub rule: String,
    /// Its parameters.
    pub bindings: Vec<(String, String)>,
    /// What changed, and to what; `None` if the step fails.
    pub changed: Option<Vec<(String, String)>>,
    /// The whole state after it, if it was recorded.
    pub state: Option<Vec<(String, String)>>,
}

const NO_OBJECT: &str = "not a result of `tribunal explore --save` or `--json`";

/// Reads a counterexample. The text is one JSON object, perhaps with white space around it; the
/// error is a sentence that says what is wrong with it and where.
pub fn read(text: &str) -> Result<Recorded, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("{NO_OBJECT}: {error}"))?;
    let object = value.as_object().ok_or(NO_OBJECT)?;
    recorded(object, string(object, "verdict", "the exploration")?)
}

/// Reads the run of a JSON object whose verdict may be about something else, such as a memory model:
/// what is at its end is a deadlock or a violation.
pub fn read_run(value: &Value) -> Result<Recorded, String> {
    let object = value.as_object().ok_or(NO_OBJECT)?;
    let verdict = match object.get("kind").and_then(Value::as_str) {
        Some("deadlock") => "deadlock".to_owned(),
        Some(_) => "violation".to_owned(),
        None => string(object, "verdict", "the exploration")?,
    };
    recorded(object, verdict)
}

fn recorded(object: &Map<String, Value>, verdict: String) -> Result<Recorded, String> {
    if verdict != "violation" && verdict != "deadlock" {
        return Err(format!("no counterexample to replay: the verdict is \"{verdict}\""));
    }
    let steps = object.get("counterexample").and_then(Value::as_array);
    let steps =
        steps.ok_or("no counterexample to replay: the field `counterexample` is missing")?;
    let start = object.get("start").and_then(Value::as_object);
    let start = start.ok_or("the field `start` (start state of the counterexample) is missing")?;
    let numbered = steps.iter().enumerate();
    Ok(Recorded {
        kind: string(object, "kind", "the exploration")?,
        property: string(object, "property", "the exploration")?,
        verdict,
        symmetric: strings(object, "symmetric")?,
        liveness: strings(object, "liveness")?,
        constants: fields(object, "constants", "the exploration")?.unwrap_or_default(),
        dialect: optional_string(object, "dialect")?,
        loop_limit: limit(object, "loop_limit")?,
        call_limit: limit(object, "call_limit")?,
        deadlock: optional_string(object, "deadlock")?,
        start: read_start(start)?,
        steps: numbered
            .map(|(index, step)| read_step(index + 1, step))
            .collect::<Result<_, _>>()?,
    })
}

fn read_start(start: &Map<String, Value>) -> Result<RecordedStart, String> {
    let whose = "the start";
    Ok(RecordedStart {
        rule: string(start, "rule", whose)?,
        bindings: fields(start, "bindings", whose)?.unwrap_or_default(),
        state: fields(start, "state", whose)?,
    })
}

fn read_step(number: usize, step: &Value) -> Result<RecordedStep, String> {
    let whose = &*format!("step {number}");
    let step = step.as_object().ok_or_else(|| format!("{whose} is not an object"))?;
    Ok(RecordedStep {
        rule: string(step, "rule", whose)?,
        bindings: fields(step, "bindings", whose)?.unwrap_or_default(),
        changed: fields(step, "changed", whose)?,
        state: fields(step, "state", whose)?,
    })
}

fn string(object: &Map<String, Value>, name: &str, whose: &str) -> Result<String, String> {
    let value = object.get(name).and_then(Value::as_str);
    value.map(str::to_owned).ok_or_else(|| format!("{whose} has no string `{name}`"))
}

fn optional_string(object: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match object.contains_key(name) {
        true => string(object, name, "the exploration").map(Some),
        false => Ok(None),
    }
}

fn strings(object: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let Some(value) = object.get(name) else { return Ok(Vec::new()) };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts = value.as_array().and_then(|values| values.iter().map(text).collect());
    texts.ok_or_else(|| format!("`{name}` of the exploration is not a list of strings"))
}

fn limit(object: &Map<String, Value>, name: &str) -> Result<Option<u64>, String> {
    let Some(limit) = object.get(name) else { return Ok(None) };
    match limit.as_u64() {
        Some(limit) if limit > 0 => Ok(Some(limit)),
        _ => Err(format!("`{name}` of the exploration is not a positive number: {limit}")),
    }
}

/// The fields of an object whose values are all strings. JSON numbers and booleans are taken for
/// what they are written as.
fn fields(
    object: &Map<String, Value>,
    name: &str,
    whose: &str,
) -> Result<Option<Vec<(String, String)>>, String> {
    let Some(value) = object.get(name) else { return Ok(None) };
    let wrong = || format!("`{name}` of {whose} is not an object of strings");
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(wrong()),
    };
    let fields = value.as_object().ok_or_else(wrong)?.iter();
    fields.map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{
        Broken, Change, Counterexample, Effect, Finding, Report, Settings, Start, Step, Totals,
    };
    use evidence::Verdict;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn report_of(verdict: Verdict<(), Finding, crate::report::Open>) -> Report {
        Report {
            model: "m.m".to_owned(),
            verdict,
            settings: Settings { constants: vec![pair("N", "3")], ..Settings::default() },
            totals: Totals::default(),
            rules: Vec::new(),
            properties: Vec::new(),
            checkpoint: None,
            depths: crate::Depths::default(),
            growth: Vec::new(),
        }
    }

    fn json(report: &Report) -> String {
        serde_json::to_string(report).unwrap()
    }

    fn example() -> Report {
        let start = Start {
            rule: "all \"idle\"".to_owned(),
            state: Some(vec![pair("n", "0"), pair("owner", "undefined")]),
            ..Start::default()
        };
        let change = Change {
            place: "n".to_owned(),
            before: "0".to_owned(),
            after: "1".to_owned(),
            ..Change::default()
        };
        let step = Step {
            rule: "go".to_owned(),
            bindings: vec![pair("p", "Proc_1")],
            effect: Effect::Changed(vec![change]),
            ..Step::default()
        };
        let broken = Broken {
            kind: "invariant".to_owned(),
            property: "small".to_owned(),
            ..Broken::default()
        };
        let counterexample =
            Some(Counterexample { start, steps: vec![step], ..Counterexample::default() });
        report_of(Verdict::Broken(Finding { broken, counterexample }))
    }

    #[test]
    fn what_is_written_is_read_back() {
        let recorded = read(&json(&example())).unwrap();
        assert_eq!(recorded.constants, [pair("N", "3")]);
        assert_eq!(recorded.property, "small");
        assert_eq!(recorded.start.state.unwrap().len(), 2);
        assert_eq!(recorded.steps[0].changed, Some(vec![pair("n", "1")]));
        assert_eq!(recorded.steps[0].bindings, [pair("p", "Proc_1")]);
    }

    #[test]
    fn a_loop_limit_that_is_no_limit_is_refused() {
        let mut object: Value = serde_json::from_str(&json(&example())).unwrap();
        for wrong in [0.into(), (-1).into(), 1.5.into(), "1000".into(), Value::Null] {
            object["loop_limit"] = wrong;
            let error = read(&object.to_string()).unwrap_err();
            assert!(error.contains("`loop_limit`"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_replayed_is_refused_with_the_reason() {
        let error = read(&json(&report_of(Verdict::Holds(())))).unwrap_err();
        assert_eq!(error, "no counterexample to replay: the verdict is \"verified\"");
        let broken = json(&example()).replace("\"rule\":\"go\"", "\"rule\":7");
        assert_eq!(read(&broken).unwrap_err(), "step 1 has no string `rule`");
        assert!(read("[]").is_err() && read("{").is_err());
    }
}
