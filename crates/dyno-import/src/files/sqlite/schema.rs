//! The columns of a table, from the statement that made it.

/// Words that begin a rule of the table, not a column.
const RULES: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];

/// The names of the columns, in order.
pub(super) fn columns(sql: &str) -> Vec<String> {
    let Some((_, rest)) = sql.split_once('(') else { return Vec::new() };
    let body = rest.rsplit_once(')').map_or(rest, |(body, _)| body);
    parts(body).into_iter().filter_map(name).collect()
}

/// Splits at commas that stand in no parentheses.
fn parts(body: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0_i64, 0, Vec::new());
    for (at, c) in body.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&body[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&body[from..]);
    found
}

fn name(part: &str) -> Option<String> {
    let word = part.split_whitespace().next()?;
    if RULES.iter().any(|rule| word.eq_ignore_ascii_case(rule)) {
        return None;
    }
    let plain = word.trim_matches(|c| matches!(c, '"' | '`' | '[' | ']' | '\''));
    Some(plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_among_rules() {
        let sql = "CREATE TABLE result(\n request TEXT, \"start_time\" REAL,\n\
                   price DECIMAL(10, 2), [odd] INTEGER, PRIMARY KEY (request))";
        assert_eq!(columns(sql), ["request", "start_time", "price", "odd"]);
        assert_eq!(columns("nonsense"), Vec::<String>::new());
        assert_eq!(columns("x()"), Vec::<String>::new());
    }
}
