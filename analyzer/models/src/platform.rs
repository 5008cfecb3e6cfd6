//! A platform: what components of a program's work cost on a machine with an engine. Kept as TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::growth::Estimate;
use crate::model::{BUILTIN, Components, Model, OPERATOR};

/// Version of the file's schema.
const FORMAT: u32 = 2;

/// A calibrated platform. Times are in ns unless their names say otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// 2
    pub format: u32,
    /// Where and when it was calibrated.
    pub machine: Machine,
    /// The models of the paper, every one that could be calibrated, by standard error.
    pub models: Vec<Model>,
    /// The model that predictions are made with: with components more than theirs, and the least relative errors.
    pub refined: Model,
    /// What was measured by calling nothing else.
    pub isolated: Isolated,
}

/// Costs that were measured one by one (section 4, step 7), and that every model includes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Isolated {
    /// What a call of a built-in predicate takes: `is/2` without operators. `inline:is/2` is the difference to that and an
    /// operator where the compiler has an instruction for both.
    pub builtins: BTreeMap<String, f64>,
    /// What evaluating an arithmetic operator in an expression takes.
    pub operators: BTreeMap<String, f64>,
    /// What keeping a choicepoint takes (`N`), and an `expression` more than its operators.
    pub control: BTreeMap<String, f64>,
}

/// The machine of a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// Bytes of memory; 0 if unknown.
    pub memory_bytes: u64,
    /// Operating system and its version.
    pub system: String,
    /// Prolog system and its version.
    pub engine: String,
    /// When, in seconds since 1970.
    pub calibrated_unix: u64,
    /// Times that each calibration program ran.
    pub repetitions: usize,
}

/// Why there is no platform.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Not a platform.
    #[error("{}: not a platform; write one with: portmortem calibrate -o PLATFORM.toml ({reason})", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
}

/// A predicted time, and what it does not cover.
#[derive(Debug, Clone, PartialEq)]
pub struct Priced {
    /// In ns.
    pub ns: Estimate,
    /// Built-ins and operators that occurred, and that the platform has no cost of.
    pub unknown: Vec<String>,
}

impl Platform {
    /// A platform in the current format.
    #[must_use]
    pub fn new(machine: Machine, models: Vec<Model>, refined: Model, isolated: Isolated) -> Self {
        Self {
            format: FORMAT,
            machine,
            models,
            refined,
            isolated,
        }
    }

    /// Reads the platform at `path`.
    ///
    /// # Errors
    /// [`PlatformError`]
    pub fn read(path: &Path) -> Result<Self, PlatformError> {
        let file = |source| PlatformError::File {
            path: path.to_owned(),
            source,
        };
        let malformed = |reason| PlatformError::Malformed {
            path: path.to_owned(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(file)?;
        let platform: Self =
            toml::from_str(&text).map_err(|error| malformed(one_line(&error.to_string())))?;
        if platform.format != FORMAT {
            return Err(malformed(format!(
                "its format is {}, this program reads {FORMAT}",
                platform.format
            )));
        }
        if !platform.numbers().all(f64::is_finite) {
            return Err(malformed("it has numbers that are none".to_owned()));
        }
        Ok(platform)
    }

    /// As TOML.
    ///
    /// # Errors
    /// [`PlatformError`] if it cannot be written to `path`.
    pub fn write(&self, path: &Path) -> Result<(), PlatformError> {
        let failed = |source| PlatformError::File {
            path: path.to_owned(),
            source,
        };
        let text = toml::to_string(self).map_err(|error| failed(io::Error::other(error)))?;
        fs::write(path, text).map_err(failed)
    }

    /// The time that these components take by `model` and the costs of built-ins.
    #[must_use]
    pub fn price(&self, model: &Model, components: &Components) -> Priced {
        let mut ns = 0.0;
        let mut unknown = Vec::new();
        for (name, &count) in components.iter().filter(|(_, count)| **count > 0) {
            match self.cost_of(model, name) {
                Some(cost) => ns += cost * count as f64,
                None if Self::is_builtin(name) => unknown.push(name.clone()),
                None => {}
            }
        }
        Priced {
            ns: model.with_bounds(ns),
            unknown,
        }
    }

    /// What one occurrence of a component takes, in ns. `None` if it is no component of the model, or a built-in or operator
    /// that the platform does not know.
    #[must_use]
    pub fn cost_of(&self, model: &Model, component: &str) -> Option<f64> {
        if let Some(builtin) = component.strip_prefix(BUILTIN) {
            self.isolated.builtins.get(builtin).copied()
        } else if let Some(operator) = component.strip_prefix(OPERATOR) {
            self.isolated.operators.get(operator).copied()
        } else {
            let constant = model.nanoseconds.get(component);
            constant
                .or_else(|| self.isolated.control.get(component))
                .copied()
        }
    }

    /// Whether a component is a built-in or an operator.
    #[must_use]
    pub fn is_builtin(component: &str) -> bool {
        component.starts_with(BUILTIN) || component.starts_with(OPERATOR)
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        let of_models = self.models.iter().chain([&self.refined]).flat_map(|model| {
            let errors = [model.standard_error_us, model.relative_error];
            model.nanoseconds.values().copied().chain(errors)
        });
        let Isolated {
            builtins,
            operators,
            control,
        } = &self.isolated;
        let isolated = [builtins, operators, control];
        of_models.chain(isolated.into_iter().flat_map(BTreeMap::values).copied())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform() -> Platform {
        let machine = Machine {
            processor: "\"quoted\" processor".to_owned(),
            processors: 2,
            memory_bytes: 1 << 33,
            system: "Linux 6".to_owned(),
            engine: "SWI-Prolog 9.0.4".to_owned(),
            calibrated_unix: 1_795_000_000,
            repetitions: 250,
        };
        let model = |step: f64, error| Model {
            standard_error_us: error,
            relative_error: 0.1,
            nanoseconds: [("step".to_owned(), step)].into(),
        };
        Platform::new(
            machine,
            vec![model(10.0, 2.0)],
            model(20.25, 1.0),
            Isolated {
                builtins: [("is/2".to_owned(), 30.5)].into(),
                operators: [("+/2".to_owned(), 57.125)].into(),
                control: [("N".to_owned(), 8.0)].into(),
            },
        )
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.toml");
        platform().write(&path).unwrap();
        assert_eq!(Platform::read(&path).unwrap(), platform());
    }

    #[test]
    fn what_is_no_platform_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.toml");
        let refused = |text: &str| {
            fs::write(&path, text).unwrap();
            let message = Platform::read(&path).unwrap_err().to_string();
            assert!(
                message.contains("p.toml") && message.contains("calibrate"),
                "{message}"
            );
            assert!(!message.contains('\n'));
            message
        };
        refused("");
        refused("format = 'one'");
        let text = toml::to_string(&platform()).unwrap();
        assert!(refused(&text.replace("format = 2", "format = 1")).contains("format is 1"));
        refused(&text.replace("20.25", "nan"));
        refused(&text.replace("processors", "cores"));
        let missing = Platform::read(&directory.path().join("none")).unwrap_err();
        assert!(matches!(missing, PlatformError::File { .. }));
    }

    #[test]
    fn components_are_priced() {
        let platform = platform();
        let components = [
            ("step", 4),
            ("builtin:is/2", 2),
            ("arith:+/2", 1),
            ("builtin:foo/1", 9),
            ("C", 7),
            ("N", 2),
        ];
        let components = components
            .map(|(name, count)| (name.to_owned(), count))
            .into();
        let priced = platform.price(&platform.refined, &components);
        let expected: f64 = 81.0 + 61.0 + 57.125 + 16.0;
        assert!((priced.ns.value - expected).abs() < 1e-9);
        assert!((priced.ns.high - expected * 1.196).abs() < 1e-9);
        assert_eq!(priced.unknown, ["builtin:foo/1"]);
    }
}
