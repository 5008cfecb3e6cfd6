//! What polars refuses, as a sentence with a way around it. Polars prints its syntax tree.

/// Something of SQL that polars does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What it is.
    pub(crate) what: String,
    /// What to do in its place.
    pub(crate) instead: &'static str,
}

/// Where there is nothing else.
const ELSEWHERE: &str = "write the tables to files with `portmortem export --format parquet --to DIR TRACE` and ask another \
    engine, for example DuckDB";

const OF_VALUES: &str = "give its result a name and join it, as in WITH m AS (SELECT max(calls) AS most FROM predicates) \
    SELECT predicate, calls FROM predicates CROSS JOIN m WHERE calls = most";

const OF_ROWS: &str = "ask with IN or NOT IN, as in SELECT predicate FROM predicates WHERE predicate NOT IN (SELECT caller FROM edges)";

const OF_RANKS: &str = "number the rows, as in SELECT predicate, row_number() OVER (ORDER BY calls DESC) AS place FROM predicates";

const OF_PATHS: &str = "the table contexts has the call tree with the parent of each row, as in SELECT c.predicate, p.predicate AS caller \
    FROM contexts c JOIN contexts p ON c.parent = p.id";

/// Functions of windows that order rows.
const RANKS: [&str; 5] = ["rank", "dense_rank", "percent_rank", "cume_dist", "ntile"];

/// What an error of polars refuses. `None` if it is another error, or a sentence already.
pub(crate) fn refused(error: &str) -> Option<Refused> {
    let of = |what: &str, instead| {
        let what = what.to_owned();
        Some(Refused { what, instead })
    };
    if error.contains("unexpected subquery") || error.contains("subquery comparisons with") {
        return of("subqueries in the place of values", OF_VALUES);
    }
    if error.contains("recursive CTEs") {
        return of("WITH RECURSIVE", OF_PATHS);
    }
    if let Some(name) = between(error, "unsupported function '", "'") {
        let instead = match RANKS.contains(&name.to_lowercase().as_str()) {
            true => OF_RANKS,
            false => ELSEWHERE,
        };
        return of(&format!("the function {name}"), instead);
    }
    // Syntax trees have places in the text.
    if !error.contains("Span(") {
        return None;
    }
    if let Some(node) = between(error, "join type '", "(") {
        let instead = match node {
            "Semi" | "Anti" | "LeftSemi" | "LeftAnti" => OF_ROWS,
            _ => ELSEWHERE,
        };
        return of(&format!("{} JOIN", words(node)), instead);
    }
    let node = |c: char| !c.is_ascii_alphanumeric();
    let begin = error.strip_prefix("expression ").unwrap_or(error);
    match begin.split(node).next().unwrap_or_default() {
        "Exists" => of("EXISTS", OF_ROWS),
        node if begin.len() < error.len() && !node.is_empty() => of(&words(node), ELSEWHERE),
        _ => of("this", ELSEWHERE),
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

/// The name of a node, `SimilarTo`, as it is written in SQL.
fn words(node: &str) -> String {
    let mut text = String::new();
    for c in node.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_as_in_sql() {
        let what = |error: &str| refused(error).map(|refused| refused.what);
        let tree = "{ expr: Identifier(Ident { span: Span(Location(1,2)..Location(1,3)) }) }";
        for (error, expected) in [
            (format!("expression Exists {tree} is not"), "EXISTS"),
            (format!("expression SimilarTo {tree} is not"), "SIMILAR TO"),
            (format!("expression Rollup([{tree}]) is not"), "ROLLUP"),
            (format!("join type 'Anti(On({tree}))' not"), "ANTI JOIN"),
            (format!("invalid interval {tree}"), "this"),
            (
                "unsupported function 'ntile'".to_owned(),
                "the function ntile",
            ),
        ] {
            assert_eq!(what(&error).as_deref(), Some(expected), "{error}");
        }
        assert_eq!(what("`LATERAL` clause is not supported"), None);
    }
}
