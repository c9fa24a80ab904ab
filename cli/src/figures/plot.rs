//! Plots of figures as SVG.

use std::path::Path;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Size of a plot in pixels.
const SIZE: (u32, u32) = (720, 400);

/// What a plot is drawn on.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Texts around a plot.
#[derive(Clone, Copy)]
pub struct Labels<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// A line: its name and its points.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

fn failed<E: std::fmt::Display>(file: &Path) -> impl Fn(E) -> anyhow::Error + '_ {
    move |error| anyhow!("cannot draw {}: {error}", file.display())
}

/// Largest value with a little space above it.
fn above(values: impl Iterator<Item = f64>) -> f64 {
    1.1 * values.fold(f64::MIN_POSITIVE, f64::max)
}

/// A chart with a title, and space for the texts at both axes.
fn framed<'a, 'b>(area: &'a Area<'b>, labels: Labels<'_>) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(area);
    chart
        .caption(labels.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56);
    chart
}

/// Draws lines over a logarithmic axis, from 0 upwards. `at` writes a place of the axis.
pub fn lines(
    file: &Path,
    labels: Labels<'_>,
    lines: &[Line],
    at: fn(&f64) -> String,
) -> anyhow::Result<()> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let first = points().map(|point| point.0).fold(f64::MAX, f64::min);
    let last = points().map(|point| point.0).fold(first, f64::max);
    let top = above(points().map(|point| point.1));
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(failed(file))?;
    let mut chart = framed(&area, labels)
        .build_cartesian_2d((first..last * 1.01).log_scale().base(2.0), 0.0..top)
        .map_err(failed(file))?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .y_desc(labels.y)
        .x_label_formatter(&at)
        .max_light_lines(1)
        .draw()
        .map_err(failed(file))?;
    for (index, line) in lines.iter().enumerate() {
        let color = Palette99::pick(index).to_rgba();
        let points = line.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))
            .map_err(failed(file))?
            .label(line.name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
        chart
            .draw_series(points.map(|point| Circle::new(point, 3, color.filled())))
            .map_err(failed(file))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()
        .map_err(failed(file))?;
    area.present().map_err(failed(file))
}

/// Draws a bar for each name and value.
pub fn bars(file: &Path, labels: Labels<'_>, values: &[(&str, f64)]) -> anyhow::Result<()> {
    let top = above(values.iter().map(|value| value.1));
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(failed(file))?;
    let mut chart = framed(&area, labels)
        .build_cartesian_2d((0..values.len()).into_segmented(), 0.0..top)
        .map_err(failed(file))?;
    let name = |place: &SegmentValue<usize>| match place {
        SegmentValue::CenterOf(index) => values.get(*index).map_or("", |v| v.0).to_owned(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_desc(labels.x)
        .y_desc(labels.y)
        .x_labels(values.len())
        .x_label_formatter(&name)
        .draw()
        .map_err(failed(file))?;
    let bar = |(index, &(_, value)): (usize, &(&str, f64))| {
        let ends = [
            (SegmentValue::Exact(index), 0.0),
            (SegmentValue::Exact(index + 1), value),
        ];
        let mut bar = Rectangle::new(ends, Palette99::pick(index).filled());
        bar.set_margin(0, 0, 30, 30);
        bar
    };
    chart
        .draw_series(values.iter().enumerate().map(bar))
        .map_err(failed(file))?;
    area.present().map_err(failed(file))
}
