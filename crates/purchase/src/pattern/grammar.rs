//! The grammar of shared patterns, read once from left to right.

use std::iter::Peekable;
use std::str::Chars;

use super::Pattern;

/// Why a pattern is not shared. Positions are counted in characters, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unshared {
    /// The pattern has more characters, or more repetitions of repetitions, than a pattern needs.
    #[error("it is too long")]
    TooLong,
    /// The character has no meaning here.
    #[error("at character {0}: this character means different things in different languages")]
    Character(usize),
    /// The character after a backslash is not in the list.
    #[error("at character {0}: this escape means different things in different languages")]
    Escape(usize),
    /// The range does not ascend among digits, small letters or capital letters.
    #[error("at character {0}: this range is not one of digits or letters")]
    Range(usize),
    /// There is nothing to repeat, or the number of repetitions is not valid.
    #[error("at character {0}: this repetition means different things in different languages")]
    Repetition(usize),
    /// Something is missing.
    #[error("at character {0}: something is missing")]
    Missing(usize),
    /// The content of a repeated group can match in several ways.
    #[error("at character {0}: what is repeated can match in several ways")]
    Ambiguous(usize),
}

/// The maximum number of repetitions. No identifier is longer.
const REPETITIONS_MAX: u8 = 40;

/// Checks that every engine reads this text in the same way.
pub(super) fn check(text: &str) -> Result<(), Unshared> {
    if text.chars().count() > Pattern::LENGTH_MAX {
        return Err(Unshared::TooLong);
    }
    let mut reader = Reader { rest: text.chars().peekable(), at: 0 };
    reader.alternatives()?;
    match reader.next() {
        None => Ok(()),
        Some(_unopened) => Err(Unshared::Character(reader.at)),
    }
}

/// The kind of the term that was read last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    /// An end of the identifier. It takes no repetition.
    Anchor,
    /// It can match in one way only.
    Plain,
    /// It varies in length, or has alternatives.
    Various,
}

struct Reader<'text> {
    rest: Peekable<Chars<'text>>,
    /// The position of the character that was read last.
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.at = self.at.saturating_add(1);
        self.rest.next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_there = self.rest.peek() == Some(&wanted);
        if is_there {
            self.next();
        }
        is_there
    }

    fn needs(&mut self) -> Result<char, Unshared> {
        self.next().ok_or(Unshared::Missing(self.at))
    }

    /// Terms and `|`, up to the end or the bracket that closes the group.
    fn alternatives(&mut self) -> Result<Term, Unshared> {
        let mut whole = self.sequence()?;
        while self.takes('|') {
            self.sequence()?;
            whole = Term::Various;
        }
        Ok(whole)
    }

    fn sequence(&mut self) -> Result<Term, Unshared> {
        let (mut whole, mut is_empty) = (Term::Plain, true);
        while let Some(character) = self.rest.peek().copied().filter(|next| !matches!(next, '|' | ')')) {
            self.next();
            is_empty = false;
            let term = self.term(character)?;
            if self.repeated(term)? == Term::Various {
                whole = Term::Various;
            }
        }
        if is_empty { Err(Unshared::Missing(self.at.saturating_add(1))) } else { Ok(whole) }
    }

    fn term(&mut self, character: char) -> Result<Term, Unshared> {
        match character {
            '^' | '$' => Ok(Term::Anchor),
            '(' => self.group(),
            '[' => self.class(),
            '\\' => match self.needs()? {
                'd' | 'w' | '.' | '+' | '/' => Ok(Term::Plain),
                _other => Err(Unshared::Escape(self.at)),
            },
            '.' | '-' | '_' | '/' => Ok(Term::Plain),
            _other if character.is_ascii_alphanumeric() => Ok(Term::Plain),
            '?' | '*' | '+' | '{' => Err(Unshared::Repetition(self.at)),
            _other => Err(Unshared::Character(self.at)),
        }
    }

    fn group(&mut self) -> Result<Term, Unshared> {
        if self.takes('?') && !self.takes(':') {
            return Err(Unshared::Character(self.at));
        }
        let inside = self.alternatives()?;
        if self.needs()? == ')' { Ok(inside) } else { Err(Unshared::Character(self.at)) }
    }

    fn class(&mut self) -> Result<Term, Unshared> {
        self.takes('^');
        let mut is_empty = true;
        loop {
            let member = self.needs()?;
            match member {
                ']' if is_empty => return Err(Unshared::Missing(self.at)),
                ']' => return Ok(Term::Plain),
                '\\' => match self.needs()? {
                    'd' | 'w' | '-' | '.' | '+' | '/' => {}
                    _other => return Err(Unshared::Escape(self.at)),
                },
                '_' => {}
                _other if member.is_ascii_alphanumeric() => self.rest_of_range(member)?,
                _other => return Err(Unshared::Character(self.at)),
            }
            is_empty = false;
        }
    }

    /// The end of a range, where `first` begins one.
    fn rest_of_range(&mut self, first: char) -> Result<(), Unshared> {
        if !self.takes('-') {
            return Ok(());
        }
        let last = self.needs()?;
        let kinds: [fn(&char) -> bool; 3] =
            [char::is_ascii_digit, char::is_ascii_lowercase, char::is_ascii_uppercase];
        let is_range = first <= last && kinds.iter().any(|is_of| is_of(&first) && is_of(&last));
        if is_range { Ok(()) } else { Err(Unshared::Range(self.at)) }
    }

    /// What `term` becomes by the repetition that follows it, if one does.
    fn repeated(&mut self, term: Term) -> Result<Term, Unshared> {
        let Some(quantifier) = self.rest.peek().copied().filter(|next| "?*+{".contains(*next)) else {
            return Ok(term);
        };
        self.next();
        let at = self.at;
        let (is_fixed, is_many) = match quantifier {
            '?' => (false, false),
            '{' => self.count(at)?,
            _many => (false, true),
        };
        match term {
            Term::Anchor => Err(Unshared::Repetition(at)),
            Term::Various if is_many => Err(Unshared::Ambiguous(at)),
            Term::Plain if is_fixed => Ok(Term::Plain),
            Term::Plain | Term::Various => Ok(Term::Various),
        }
    }

    /// Reads the content of braces. Returns whether it is one fixed number, and whether it allows more than one
    /// repetition.
    fn count(&mut self, at: usize) -> Result<(bool, bool), Unshared> {
        let least = self.number(at)?;
        if self.takes('}') {
            return Ok((true, least > 1));
        }
        if self.needs()? != ',' {
            return Err(Unshared::Repetition(at));
        }
        if self.takes('}') {
            return Ok((false, true));
        }
        let most = self.number(at)?;
        if self.needs()? == '}' && least <= most {
            Ok((least == most, most > 1))
        } else {
            Err(Unshared::Repetition(at))
        }
    }

    fn number(&mut self, at: usize) -> Result<u8, Unshared> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.peek().copied().filter(char::is_ascii_digit) {
            self.next();
            digits.push(digit);
        }
        let is_canonical = digits == "0" || !digits.starts_with('0');
        let number = digits.parse().ok().filter(|number| is_canonical && *number <= REPETITIONS_MAX);
        number.ok_or(Unshared::Repetition(at))
    }
}
