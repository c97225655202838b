//! Tables in Markdown.

/// Prints a table; the first column is text, the others are numbers.
pub fn print(head: &[String], rows: &[Vec<String>]) {
    println!("\n| {} |", head.join(" | "));
    println!("|---{}|", "|---:".repeat(head.len() - 1));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}
