//! Patterns of predicates, as people write them: `module:name/arity` with `*` and `?`.
//!
//! Parts may be left out: `name/arity` is in any module, `module:name` has any arity, and a bare
//! word is a module or a name. A name may also be written as it is printed: in quotes,
//! `'my pred'/2`, in parentheses, `(table)/1`, or with spaces behind it, `<> / 2`. Then it means
//! itself: `'*'` is no wildcard. The recorder selects predicates with patterns and the analyser
//! hides predicates with them.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicatePattern {
    module: Option<PatternPart>,
    name: PatternPart,
    arity: Option<String>,
}

/// A module or a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    Exactly(String),
    Like(String),
}

impl PatternPart {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exactly(name) => name == text,
            Self::Like(pattern) => wildcard(pattern, text),
        }
    }
}

impl PredicatePattern {
    /// Reads a pattern. Every text is one: what it cannot match, it does not match.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::as_printed(text.trim()).unwrap_or_else(|| Self::plain(text))
    }

    fn plain(text: &str) -> Self {
        let (module, rest) = match text.split_once(':') {
            Some((module, rest)) if !module.is_empty() && !rest.is_empty() => (Some(module), rest),
            _ => (None, text),
        };
        let (name, arity) = match rest.rsplit_once('/') {
            Some((name, arity)) if !name.is_empty() && is_arity(arity) => (name, Some(arity)),
            _ => (rest, None),
        };
        let like = |text: &str| PatternPart::Like(text.to_owned());
        Self {
            module: module.map(like),
            name: like(name),
            arity: arity.map(str::to_owned),
        }
    }

    /// Reads a pattern in which a name is marked as such. `None` if none is.
    fn as_printed(text: &str) -> Option<Self> {
        let (module, rest) = match marked(text) {
            Some((module, rest)) if rest.starts_with(':') => (Some(module), &rest[1..]),
            _ => match text.split_once(':') {
                Some((module, rest)) if is_marked(rest) => {
                    (Some(PatternPart::Like(module.to_owned())), rest)
                }
                _ => (None, text),
            },
        };
        let rest = rest.trim_start();
        let (name, rest) = match marked(rest) {
            Some(found) => found,
            None if rest.contains(" / ") => {
                let (name, _) = rest.rsplit_once(" / ")?;
                (PatternPart::Exactly(name.to_owned()), &rest[name.len()..])
            }
            None => {
                let plain = Self::plain(rest);
                let is_whole = module.is_some() && plain.module.is_none();
                return is_whole.then_some(Self { module, ..plain });
            }
        };
        let rest = rest.trim_start();
        let arity = match rest.strip_prefix('/') {
            Some(arity) => Some(arity.trim_start()).filter(|arity| is_arity(arity)),
            None => None,
        };
        let is_whole = rest.is_empty() || arity.is_some();
        is_whole.then(|| Self {
            module,
            name,
            arity: arity.map(str::to_owned),
        })
    }

    /// Whether predicates of that module can be meant.
    #[must_use]
    pub fn matches_in(&self, module: &str) -> bool {
        self.module
            .as_ref()
            .is_none_or(|pattern| pattern.matches(module))
    }

    /// Whether the predicate `module:name/arity` (names unquoted) is meant.
    #[must_use]
    pub fn matches(&self, module: &str, name: &str, arity: u32) -> bool {
        match (&self.module, &self.arity) {
            (None, None) => self.name.matches(name) || self.name.matches(module),
            (_, pattern_arity) => {
                self.matches_in(module)
                    && self.name.matches(name)
                    && pattern_arity
                        .as_ref()
                        .is_none_or(|pattern| wildcard(pattern, &arity.to_string()))
            }
        }
    }
}

fn is_marked(text: &str) -> bool {
    text.contains(" / ") || text.trim_start().starts_with(['\'', '('])
}

/// The name in quotes or parentheses that a text begins with, and what stands behind it.
fn marked(text: &str) -> Option<(PatternPart, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        if let Some((part, rest)) = in_quotes(inner) {
            return Some((part, rest.strip_prefix(')')?));
        }
        let (name, rest) = inner.split_once(')')?;
        return Some((PatternPart::Exactly(name.to_owned()), rest));
    }
    in_quotes(text)
}

/// An atom as `writeq/1` writes it. The empty list has no quotes: the atom `'[]'` keeps them, as in
/// traces.
fn in_quotes(text: &str) -> Option<(PatternPart, &str)> {
    let mut rest = text.strip_prefix('\'')?.chars();
    let mut name = String::new();
    loop {
        match rest.next()? {
            '\'' if rest.as_str().starts_with('\'') => {
                rest.next();
                name.push('\'');
            }
            '\'' => break,
            '\\' => name.push(escaped(&mut rest)?),
            c => name.push(c),
        }
    }
    let name = if name == "[]" {
        "'[]'".to_owned()
    } else {
        name
    };
    Some((PatternPart::Exactly(name), rest.as_str()))
}

/// What an escape sequence stands for, of which the backslash has been read.
fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match rest.next()? {
        'a' => '\x07',
        'b' => '\x08',
        't' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'x' => {
            let (digits, behind) = rest.as_str().split_once('\\')?;
            *rest = behind.chars();
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
        }
        other => other,
    })
}

fn is_arity(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || c == '*' || c == '?')
}

/// Whether `text` matches `pattern`; `*` stands for any characters, `?` for one.
#[must_use]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on if the characters after the last `*` do not fit: it takes one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else {
                    return false;
                };
                retry = Some((after_star, from + 1));
                p = after_star;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, module: &str, name: &str, arity: u32) -> bool {
        PredicatePattern::new(pattern).matches(module, name, arity)
    }

    #[test]
    fn whole_indicators() {
        assert!(matches("user:foo/2", "user", "foo", 2));
        assert!(!matches("user:foo/2", "user", "foo", 3));
        assert!(!matches("user:foo/2", "lists", "foo", 2));
    }

    #[test]
    fn parts_left_out() {
        assert!(matches("foo/2", "anywhere", "foo", 2));
        assert!(matches("user:foo", "user", "foo", 7));
        assert!(matches("lists", "lists", "append", 3));
        assert!(matches("append", "lists", "append", 3));
        assert!(!matches("append", "lists", "member", 2));
    }

    #[test]
    fn modules() {
        let matches_in = |pattern, module| PredicatePattern::new(pattern).matches_in(module);
        assert!(matches_in("l*:append/3", "lists"));
        assert!(!matches_in("user:append/3", "lists"));
        assert!(matches_in("append/3", "lists"));
        assert!(matches_in("append", "lists"));
    }

    #[test]
    fn wildcards() {
        assert!(matches("*:app*/3", "lists", "append", 3));
        assert!(matches("user:*", "user", "x", 0));
        assert!(matches("foo/?", "user", "foo", 9));
        assert!(!matches("foo/?", "user", "foo", 10));
        assert!(matches("*a*b*c", "user", "xxaybzzbc", 0));
        assert!(!matches("*a*b*c", "user", "xxaybzzb", 0));
    }

    #[test]
    fn operators_as_names() {
        assert!(matches("user:(/)/2", "user", "/", 2));
        assert!(matches("//2", "user", "/", 2));
        assert!(matches("a:b:c/1", "a", "b:c", 1));
    }

    #[test]
    fn what_is_marked_means_itself() {
        assert!(matches("'*'/1", "user", "*", 1));
        assert!(matches("(*)/1", "user", "*", 1));
        assert!(!matches("'*'/1", "user", "foo", 1));
        assert!(matches("'[]'/1", "user", "'[]'", 1));
        assert!(!matches("'[]'/1", "user", "[]", 1));
        assert!(matches("[]/1", "user", "[]", 1));
        assert!(!matches("[]/1", "user", "'[]'", 1));
        assert!(matches("'it''s'", "user", "it's", 1));
        assert!(matches("l*:'my pred'/?", "lists", "my pred", 3));
        assert!(matches("'my mod':p*/3", "my mod", "pred", 3));
        // No mark is closed: as if there were none.
        assert!(matches("'a*", "user", "'ab", 0));
        assert!(matches("f(x)/1", "user", "f(x)", 1));
    }
}
