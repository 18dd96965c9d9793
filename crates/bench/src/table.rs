//! Tables as Markdown has them, and figures as people read them.

/// Prints a table, its first row the heads.
pub(crate) fn print(rows: &[Vec<String>]) {
    for (place, row) in rows.iter().enumerate() {
        println!("| {} |", row.join(" | "));
        if place == 0 {
            println!("|{}", " --- |".repeat(row.len()));
        }
    }
    println!();
}

/// Cells of a row.
pub(crate) fn row<const N: usize>(cells: [&dyn std::fmt::Display; N]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

/// A whole number with its thousands apart.
pub(crate) fn count(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Seconds in the unit that suits them.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        ..1e-6 => format!("{:.0} ns", seconds * 1e9),
        ..1e-3 => format!("{:.1} us", seconds * 1e6),
        ..1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// How many times the second the first is.
pub(crate) fn times(first: f64, second: f64) -> String {
    format!("{:.2}x", first / second)
}

/// Bytes as mebibytes.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The middle one of some figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
