"""Tokens and comments of a source file.

Each tokeniser returns both: tokens as pairs of a kind and a text, and comments as pairs of offsets.
"""

import io
import re
import tokenize

RUST = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>[bc]?r(?P<hashes>\#*)"[\s\S]*?"(?P=hashes))
  | (?P<string>[bc]?"(?:\\[\s\S]|[^"\\])*")
  | (?P<character>b?'(?:\\(?:u\{[^}]*\}|x\w\w|.)|[^'\\])')
  | (?P<lifetime>'(?:r\#)?[^\W\d]\w*)
  | (?P<word>(?:r\#)?[^\W\d]\w*)
  | (?P<number>\d\w*(?:\.\d\w*)?)
  | (?P<mark>::|->|=>|!=|.)
    """,
    re.X,
)

PROLOG = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>%[^\n]*|/\*[\s\S]*?(?:\*/|\Z))
  | (?P<number>0'(?:\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\?|[\s\S])|''|[\s\S])|\d+(?:'\w+)?)
  | (?P<quoted>'(?:\\[\s\S]|''|[^'\\])*')
  | (?P<string>"(?:\\[\s\S]|""|[^"\\])*"|`(?:\\[\s\S]|``|[^`\\])*`)
  | (?P<variable>[A-Z_]\w*)
  | (?P<word>[^\W\d_]\w*)
  | (?P<end>\.(?=\s|%|\Z))
  | (?P<symbol>[-+*/\\^<>=~:.?@\#&$]+)
  | (?P<mark>.)
    """,
    re.X,
)

C = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))
  | (?P<string>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')
    """,
    re.X,
)

SHELL = re.compile(
    r"""
    (?P<comment>(?<![^\s;(])\#[^\n]*)
  | (?P<here><<-?\s*(?P<quote>["'\\]?)(?P<end>\w+)(?P=quote)[\s\S]*?\n\t*(?P=end)(?=\n|\Z))
  | (?P<string>\\[\s\S]|"(?:\\[\s\S]|[^"\\])*"|'[^']*')
    """,
    re.X,
)

MAKE = re.compile(r"""(?P<comment>(?<![^\s;(])\#[^\n]*)|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")

TOML = re.compile(
    r'''
    (?P<comment>\#[^\n]*)
  | (?P<string>"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
    ''',
    re.X,
)


def rust(text):
    """Its block comments are nested, which no regular expression can follow."""
    return tokens(RUST, text, end_of_block)


def prolog(text):
    return tokens(PROLOG, text)


def python(text):
    """A string that is a statement is documentation, and counts as a comment."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    try:
        found.extend(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        pass
    comments, before = [], tokenize.NEWLINE
    for token, after in zip(found, found[1:]):
        is_statement = before in PYTHON_LAYOUT and after.type == tokenize.NEWLINE
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and is_statement:
            (first, left), (last, right) = token.start, token.end
            comments.append((starts[first - 1] + left, starts[last - 1] + right))
        before = token.type
    return [], comments


PYTHON_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)


def c(text):
    return tokens(C, text)


def shell(text):
    return tokens(SHELL, text)


def make(text):
    return tokens(MAKE, text)


def toml(text):
    return tokens(TOML, text)


def tokens(language, text, end_of_block=None):
    found, comments = [], []
    at, match = 0, language.search
    while token := match(text, at):
        kind, at = token.lastgroup, token.end()
        if kind == "block":
            at = end_of_block(text, at)
            kind = "comment"
        if kind == "comment":
            comments.append((token.start(), at))
        elif kind != "space":
            found.append((kind, token.group()))
    return found, comments


def end_of_block(text, at):
    depth = 1
    while depth:
        mark = BLOCK.search(text, at)
        if not mark:
            return len(text)
        depth += 1 if mark.group() == "/*" else -1
        at = mark.end()
    return at


BLOCK = re.compile(r"/\*|\*/")
