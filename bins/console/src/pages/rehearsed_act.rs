//! An act that is rehearsed first. With the result of the rehearsal the person decides whether it is done.

use maud::html;

use super::{Page, run, see_other};
use crate::{
    layout,
    render::{self, nowhere},
    text::Text,
    visit::Posted,
    words::Words,
};

pub(super) struct RehearsedAct<'a> {
    /// The command, without `--dry-run`.
    pub(super) words: Words,
    /// Whether the command asks a person at a terminal. `--yes` says that the person has decided here.
    pub(super) asks: bool,
    /// Where the form of the act is sent.
    pub(super) address: &'a str,
    /// The page that follows the act. Without one it is the report of the act, which may show a secret once.
    pub(super) afterwards: Option<&'a str>,
    /// The page of the menu to which the rehearsal belongs.
    pub(super) menu: &'a str,
    pub(super) title: &'a str,
    /// Names the report of the rehearsal.
    pub(super) caption: Text,
    /// Carries it out.
    pub(super) button: Text,
}

impl RehearsedAct<'_> {
    pub(super) async fn page(self, posted: &Posted) -> Page {
        let visit = &posted.visit;
        if posted.is_confirmed()? {
            let words = if self.asks { self.words.switch("yes") } else { self.words };
            let report = posted.came_to(run(visit, words).await)?;
            if let Some(address) = self.afterwards {
                return Ok(see_other(address));
            }
            let content = render::report(visit.translator(), &report, self.caption, nowhere);
            return Ok(layout::page(visit, self.menu, self.title, &content));
        }
        let report = run(visit, self.words.switch("dry-run")).await?;
        let content = html! {
            (layout::confirmation(posted, self.address, self.button))
            (render::report(visit.translator(), &report, self.caption, nowhere))
        };
        Ok(layout::page(visit, self.menu, self.title, &content))
    }
}
