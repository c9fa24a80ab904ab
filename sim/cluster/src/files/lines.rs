//! Lines of text files, and what can be wrong with them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A file that cannot be used: which one, where, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {problem}", Place(*.line))]
pub struct FileError {
    /// Its name.
    pub file: String,
    /// The line, from 1, if the problem is in one.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: LineProblem,
}

/// `:7`, or nothing.
struct Place(Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// What is wrong with a line, or with a whole file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LineProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A word that does not belong there.
    #[error("{word:?} is not known here; {expected}")]
    Unknown {
        /// The word.
        word: String,
        /// What can stand there.
        expected: &'static str,
    },
    /// A value is not there.
    #[error("nothing follows {0:?}; give its value")]
    NoValue(String),
    /// A value that is no number of its range.
    #[error("{key} is {value:?}; give {expected}")]
    BadValue {
        /// What it is the value of.
        key: String,
        /// The value.
        value: String,
        /// What it can be.
        expected: String,
    },
    /// Something that a line or a file needs is not there.
    #[error("{0} is missing; add it")]
    Missing(&'static str),
    /// Something is there twice.
    #[error("{0} is there already; remove one of them")]
    Twice(String),
    /// A count in the header differs from what the file has.
    #[error("{what} {said}, but the file has {found}; correct one of them")]
    Count {
        /// Key in the header.
        what: &'static str,
        /// What it says.
        said: u64,
        /// What was found.
        found: u64,
    },
    /// A reference to nothing.
    #[error("trigger {0} is not described; add a line \"trigger id {0} oneshot\"")]
    NoTrigger(u64),
    /// Values that do not fit together.
    #[error("{0}")]
    Contradiction(String),
}

/// The lines of a file that have words, without comments, with their numbers.
pub(super) struct Lines<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl<'a> Lines<'a> {
    /// The words of every line that is not empty and does not start with `#`.
    pub fn words(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| Line {
                file: self.file,
                number: index + 1,
                words: line.split_whitespace().collect(),
            })
            .filter(|line| {
                line.words
                    .first()
                    .is_some_and(|word| !word.starts_with('#'))
            })
    }

    /// A problem of the whole file.
    pub fn error(&self, problem: LineProblem) -> FileError {
        FileError {
            file: self.file.into(),
            line: None,
            problem,
        }
    }
}

/// The words of a line.
pub(super) struct Line<'a> {
    pub file: &'a str,
    pub number: usize,
    pub words: Vec<&'a str>,
}

impl Line<'_> {
    /// A problem of this line.
    pub fn error(&self, problem: LineProblem) -> FileError {
        FileError {
            file: self.file.into(),
            line: Some(self.number),
            problem,
        }
    }

    /// Word `index` as a number that `accept` accepts; `key` and `expected` are for the message.
    pub fn number<T: FromStr>(
        &self,
        index: usize,
        key: &str,
        expected: &str,
        accept: impl Fn(&T) -> bool,
    ) -> Result<T, FileError> {
        let word = self.words.get(index);
        let word = word.ok_or_else(|| self.error(LineProblem::NoValue(key.into())))?;
        self.parsed(word, key, expected, accept)
    }

    /// `word` as a number.
    pub fn parsed<T: FromStr>(
        &self,
        word: &str,
        key: &str,
        expected: &str,
        accept: impl Fn(&T) -> bool,
    ) -> Result<T, FileError> {
        let value = word.parse().ok().filter(accept);
        value.ok_or_else(|| {
            self.error(LineProblem::BadValue {
                key: key.into(),
                value: word.into(),
                expected: expected.into(),
            })
        })
    }
}
