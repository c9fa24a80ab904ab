//! Recorded runs. A recording has the inputs of an instance in every cycle, and can be played into other models with the same ports.
//!
//! The inputs of a run do not depend on how the model was built. So a run of one model can be repeated on another one without the software around it.
//! [`compare`] checks in this way that models in different modes have the same outputs, and [`time`] measures their speed.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::error::ModelError;
use crate::model::{Model, PortId};
use crate::port::Dir;

/// Number of cycles that are timed together.
pub const TIMED_CYCLES: u64 = 1_000;

/// The inputs of a run of whole cycles, from [`Model::start_recording`] to [`Model::take_recording`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    clock: String,
    /// Names of the other inputs.
    inputs: Vec<String>,
    /// The changes of each half cycle in turn. Each has the number of changed inputs, then the position in `inputs` and the new words of each one.
    changes: Vec<u32>,
    halves: u64,
}

impl Recording {
    /// Returns the number of whole cycles.
    pub const fn cycles(&self) -> u64 {
        self.halves / 2
    }
}

/// Records every change of the inputs of a model.
pub(crate) struct Recorder {
    recording: Recording,
    inputs: Vec<PortId>,
    /// The last recorded value of each input. It is empty before the first one.
    last: Vec<Vec<u32>>,
}

impl Recorder {
    fn note(&mut self, model: &Model, driven: bool) {
        let changes = &mut self.recording.changes;
        let count_at = changes.len();
        changes.push(0);
        self.recording.halves += 1;
        if !driven && self.recording.halves > 1 {
            return;
        }
        for ((place, port), last) in (0..).zip(&self.inputs).zip(&mut self.last) {
            let words = model.get_words(*port);
            if **last != *words {
                changes[count_at] += 1;
                changes.push(place);
                changes.extend_from_slice(&words);
                last.clear();
                last.extend_from_slice(&words);
            }
        }
    }
}

impl Model {
    /// Starts to record the inputs at each [`Self::clock`], or [`Self::fall`] and [`Self::rise`], on the input `clock`. An earlier recording is
    /// dropped.
    pub fn start_recording(&mut self, clock: PortId) {
        let ports = &self.library.ports;
        let is_input = |place: &usize| ports[*place].dir == Dir::In && *place != clock.0;
        let inputs: Vec<PortId> = (0..ports.len()).filter(is_input).map(PortId).collect();
        let name = |port: &PortId| ports[port.0].name.clone();
        self.recorder = Some(Box::new(Recorder {
            recording: Recording {
                clock: name(&clock),
                inputs: inputs.iter().map(name).collect(),
                ..Recording::default()
            },
            last: vec![vec![]; inputs.len()],
            inputs,
        }));
    }

    /// Ends the recording and returns it. Returns `None` if none was started.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.recorder.take().map(|recorder| recorder.recording)
    }

    /// Records the inputs of half a cycle, before the evaluation.
    pub(crate) fn record(&mut self, driven: bool) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.note(self, driven);
            self.recorder = Some(recorder);
        }
    }
}

/// The error that two models of the same design differ for the same inputs.
#[derive(Debug, Error)]
pub enum Difference {
    /// An output has different values.
    #[error("cycle {cycle}, {half}: output `{output}` of model {model} is {value}, and of model 0 {expected}")]
    Output {
        /// Number of the cycle, counted from the start of the recording.
        cycle: u64,
        /// `before the edge` or `after the edge`.
        half: &'static str,
        /// Name of the output.
        output: String,
        /// Index of the model that differs from the first one.
        model: usize,
        /// Its value in hexadecimal.
        value: String,
        /// The value in the first model.
        expected: String,
    },
    /// A model lacks a port that the recording or the first model has.
    #[error(transparent)]
    Port(#[from] ModelError),
}

/// The state of playing a recording into one instance.
struct Player<'a> {
    recording: &'a Recording,
    clock: PortId,
    inputs: Vec<PortId>,
    at: usize,
}

impl<'a> Player<'a> {
    fn new(recording: &'a Recording, model: &Model) -> Result<Self, ModelError> {
        let inputs = recording.inputs.iter().map(|name| model.port(name));
        Ok(Self {
            recording,
            clock: model.port(&recording.clock)?,
            inputs: inputs.collect::<Result<_, _>>()?,
            at: 0,
        })
    }

    /// Sets the inputs for the next half of a cycle.
    fn drive(&mut self, model: &mut Model) {
        let changes = &self.recording.changes;
        let count = changes[self.at];
        self.at += 1;
        for _ in 0..count {
            let port = self.inputs[changes[self.at] as usize];
            let words = model.width(port).div_ceil(32);
            let value = &changes[self.at + 1..][..words];
            model.set(port, value);
            self.at += 1 + words;
        }
    }

    fn fall(&mut self, model: &mut Model) {
        self.drive(model);
        model.fall(self.clock);
    }

    fn rise(&mut self, model: &mut Model) {
        self.drive(model);
        model.rise(self.clock);
    }
}

/// Plays `recording` into all of `models` and compares every output of every cycle with that of the first model, before and after the rising edge.
/// The models must be in the state in which the recording started.
///
/// # Errors
/// The first [`Difference`].
pub fn compare(recording: &Recording, models: &mut [&mut Model]) -> Result<(), Difference> {
    let Some(first) = models.first() else {
        return Ok(());
    };
    let outputs = first.library.ports.iter().filter(|p| p.dir == Dir::Out);
    let names: Vec<String> = outputs.map(|port| port.name.clone()).collect();
    let outputs_of = |model: &&mut Model| -> Result<Vec<PortId>, ModelError> {
        names.iter().map(|name| model.port(name)).collect()
    };
    let outputs: Vec<_> = models.iter().map(outputs_of).collect::<Result<_, _>>()?;
    let player = |model: &&mut Model| Player::new(recording, model);
    let mut players: Vec<_> = models.iter().map(player).collect::<Result<_, _>>()?;
    let check = |models: &[&mut Model], cycle, half| {
        for (place, name) in names.iter().enumerate() {
            let value = |model: usize| models[model].get_words(outputs[model][place]);
            let expected = value(0);
            if let Some(model) = (1..models.len()).find(|&model| *value(model) != *expected) {
                return Err(Difference::Output {
                    cycle,
                    half,
                    output: name.clone(),
                    model,
                    value: hexadecimal(&value(model)),
                    expected: hexadecimal(&expected),
                });
            }
        }
        Ok(())
    };
    for cycle in 0..recording.cycles() {
        for (player, model) in players.iter_mut().zip(models.iter_mut()) {
            player.fall(model);
        }
        check(models, cycle, "before the edge")?;
        for (player, model) in players.iter_mut().zip(models.iter_mut()) {
            player.rise(model);
        }
        check(models, cycle, "after the edge")?;
    }
    Ok(())
}

/// Plays `recording` into `model`. Returns the wall time of each [`TIMED_CYCLES`] cycles, starting with cycle `begin`. The cycles before it, and
/// those after the last whole [`TIMED_CYCLES`], are played without timing.
///
/// # Errors
/// [`ModelError`] if the model lacks a port of the recording.
pub fn time(
    recording: &Recording,
    model: &mut Model,
    begin: u64,
) -> Result<Vec<Duration>, ModelError> {
    let mut player = Player::new(recording, model)?;
    let mut play = |cycles: u64| {
        let began = Instant::now();
        for _ in 0..cycles {
            player.fall(model);
            player.rise(model);
        }
        began.elapsed()
    };
    let begin = begin.min(recording.cycles());
    play(begin);
    let timed = recording.cycles() - begin;
    let times = (0..timed / TIMED_CYCLES).map(|_| play(TIMED_CYCLES));
    let times = times.collect();
    play(timed % TIMED_CYCLES);
    Ok(times)
}

/// Formats words, lowest first, as one number.
fn hexadecimal(words: &[u32]) -> String {
    let digits: String = words
        .iter()
        .rev()
        .map(|word| format!("{word:08x}"))
        .collect();
    format!("0x{digits}")
}
