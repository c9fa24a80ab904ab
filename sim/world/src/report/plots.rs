//! Plots as SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::WorldError;

/// Size of a plot in pixels.
const SIZE: (u32, u32) = (900, 300);

/// A line: name and one value per time.
pub(crate) struct Line {
    pub name: String,
    pub values: Vec<f64>,
}

/// Labels of a plot.
#[derive(Clone, Copy)]
pub(crate) struct Labels {
    pub title: &'static str,
    pub x: &'static str,
    pub y: &'static str,
}

fn failed<E: std::fmt::Display>(labels: Labels) -> impl Fn(E) -> WorldError {
    move |error| WorldError::Plot {
        plot: labels.title,
        reason: error.to_string(),
    }
}

/// Draws on a white area with `draw`. Returns the SVG.
fn svg(
    labels: Labels,
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), WorldError>,
) -> Result<String, WorldError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(failed(labels))?;
        draw(&area)?;
        area.present().map_err(failed(labels))?;
    }
    Ok(text)
}

/// Range from 0 to a little above the greatest value, never empty.
fn from_zero(values: impl Iterator<Item = f64>) -> Range<f64> {
    let most = values.fold(0.0, f64::max);
    0.0..if most > 0.0 { most * 1.05 } else { 1.0 }
}

/// Lines over time in microseconds.
pub(crate) fn lines(labels: Labels, time_ns: &[u64], lines: &[Line]) -> Result<String, WorldError> {
    let us = |ns: &u64| *ns as f64 / 1e3;
    let x = from_zero(time_ns.iter().map(us));
    let y = from_zero(lines.iter().flat_map(|line| line.values.iter().copied()));
    svg(labels, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(labels.title, ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(80)
            .build_cartesian_2d(x, y)
            .map_err(failed(labels))?;
        chart
            .configure_mesh()
            .x_desc(labels.x)
            .y_desc(labels.y)
            .max_light_lines(1)
            .draw()
            .map_err(failed(labels))?;
        for (index, line) in lines.iter().enumerate() {
            let color = Palette99::pick(index).to_rgba();
            let points = time_ns.iter().map(us).zip(line.values.iter().copied());
            chart
                .draw_series(LineSeries::new(points, color))
                .map_err(failed(labels))?
                .label(line.name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
        }
        if lines.len() > 1 {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK)
                .draw()
                .map_err(failed(labels))?;
        }
        Ok(())
    })
}

/// A bar per value, one color for each parity of the index.
pub(super) fn bars(labels: Labels, values: &[u64]) -> Result<String, WorldError> {
    let x = 0.0..values.len().max(1) as f64;
    let y = from_zero(values.iter().map(|&value| value as f64));
    svg(labels, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(labels.title, ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(80)
            .build_cartesian_2d(x, y)
            .map_err(failed(labels))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_desc(labels.x)
            .y_desc(labels.y)
            .draw()
            .map_err(failed(labels))?;
        let bar = |(index, &value): (usize, &u64)| {
            let left = index as f64;
            let color = Palette99::pick(index % 2).filled();
            Rectangle::new([(left + 0.1, 0.0), (left + 0.9, value as f64)], color)
        };
        chart
            .draw_series(values.iter().enumerate().map(bar))
            .map_err(failed(labels))?;
        Ok(())
    })
}
