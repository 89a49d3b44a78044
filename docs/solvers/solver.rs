// Projection onto the simplex as a solver that speaks protocol v1: rustc -O solver.rs
//
//     argmin ||x - a|| over {x >= 0, <1,x> = r}
//
// No crates: of JSON it reads what the request holds, the numbers of one array and of r.
use std::io::{self, BufRead, Write};

// x = (u - b)_+ with b = max a - a, where n entries with the sum B of their b are above zero, and
// u = (r + B)/n.
fn project(a: &[f64], r: f64) -> Vec<f64> {
    let top = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut below: Vec<f64> = a.iter().map(|v| top - v).collect();
    below.sort_by(f64::total_cmp);
    let (mut u, mut sum) = (0.0, 0.0);
    for (i, b) in below.iter().enumerate() {
        if i > 0 && *b >= u {
            break;
        }
        sum += b;
        u = (r + sum) / (i + 1) as f64;
    }
    a.iter().map(|v| (u - (top - v)).max(0.0)).collect()
}

// The text of a field: what follows "name": up to the end of its array, number or word.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":");
    let rest = &line[line.find(&key)? + key.len()..];
    match rest.strip_prefix('[') {
        Some(list) => list.split(']').next(),
        None => rest.split([',', '}']).next(),
    }
}

fn number(text: &str) -> f64 {
    text.trim_matches('"').parse().expect("a number") // also "inf" and "nan"; rounds correctly
}

fn answer(line: &str) -> String {
    let id = field(line, "id").expect("an id");
    let vector = field(line, "shape").is_some_and(|shape| !shape.contains(','));
    let Some(entries) = field(line, "values").filter(|_| vector) else {
        return format!("{{\"id\":{id},\"status\":\"unsupported\",\"message\":\"vectors only\"}}");
    };
    let a: Vec<f64> = entries.split(',').map(number).collect();
    let r = field(line, "r").map_or(1.0, number);
    let x: Vec<String> = project(&a, r).iter().map(|v| format!("{v:e}")).collect();
    format!("{{\"id\":{id},\"x\":[{}],\"status\":\"optimal\"}}", x.join(","))
}

fn main() {
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line.expect("a line"))).expect("a reader");
        out.flush().expect("a reader"); // the kit waits for this line
    }
}
