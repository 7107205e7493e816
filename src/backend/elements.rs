//! Reads the elements of a page: of each its key, and the whole of those that are wanted. Of the others no
//! tree is built where the kind's filters are plain paths.

use std::sync::Arc;

use crate::core::exchange::{FailureClass, Item, VersionToken, Wanted};
use crate::core::filter::{Filter, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Part, Version};
use crate::core::value::{Value, type_name};

use super::item::{ItemError, id_text, key_of, listed, look, one_of, place_of, version_token};
use super::listing::{Elements, Listed, OpenPage};
use super::refusal::Context;
use super::scan::{self, Unpicked};
use super::twice::{self, Reading};
use super::wire::HttpAnswer;

/// What a page holds.
#[derive(Debug, Default)]
pub struct PageItems {
    /// The wanted items, whole.
    pub items: Vec<Item>,
    /// The keys and ids of the others.
    pub others: Vec<(Key, Option<Arc<str>>)>,
    /// How many elements there are.
    pub seen: usize,
    pub problems: Vec<String>,
}

/// What is read of an element that may not be wanted.
pub(super) struct Read {
    pub key: Key,
    pub id: Option<Arc<str>>,
    version: Option<VersionToken>,
}

/// Reads elements of one listing.
pub(super) struct Reader<'a> {
    of: Listed<'a>,
    vars: Vars,
    /// The plain paths that are read of each element.
    paths: Vec<&'a [String]>,
}

/// So many problems of a page are told one by one.
const MOST_PROBLEMS: usize = 5;

impl OpenPage {
    /// The items of the page. `version` is the collection's own, where versions come from a request.
    pub fn items(
        self,
        context: &Context,
        of: Listed,
        wanted: &Wanted,
        version: Option<&VersionToken>,
    ) -> PageItems {
        let mut out = PageItems::default();
        let reader = Reader::new(of, &self.answer);
        let mut errors = Vec::new();
        match self.elements {
            Elements::Places(places) => {
                let body = std::str::from_utf8(&self.answer.body).expect("it was read as text before");
                out.seen = places.len();
                for (at, place) in places.into_iter().enumerate() {
                    let element = &body[place];
                    let whole = || twice::read(element).map_err(|_| ItemError::Unreadable);
                    let taken =
                        reader.raw(element).and_then(|read| out.take(&reader, wanted, version, read, whole));
                    errors.extend(taken.err().map(|error| (at, error)));
                }
            }
            Elements::Trees(trees) => {
                out.seen = trees.len();
                for (at, tree) in trees.into_iter().enumerate() {
                    let read = reader.either(&tree);
                    let taken = read.and_then(|read| out.take(&reader, wanted, version, read, || Ok(tree)));
                    errors.extend(taken.err().map(|error| (at, error)));
                }
            }
        }
        out.problems = problems(context, &errors);
        out
    }
}

fn problems(context: &Context, errors: &[(usize, ItemError)]) -> Vec<String> {
    let say = |what: String| context.fail(FailureClass::NotTheApi, &what, None).message;
    let told = errors.iter().take(MOST_PROBLEMS).map(|(at, error)| say(format!("item {}: {error}", at + 1)));
    let more = errors.len().saturating_sub(MOST_PROBLEMS);
    told.chain((more > 0).then(|| say(format!("{more} more items like these")))).collect()
}

impl PageItems {
    fn take(
        &mut self,
        reader: &Reader,
        wanted: &Wanted,
        version: Option<&VersionToken>,
        read: Read,
        whole: impl FnOnce() -> Result<Reading, ItemError>,
    ) -> Result<(), ItemError> {
        let kind = reader.of.kind;
        let wanted = match wanted {
            Wanted::All => true,
            Wanted::Keys(keys) => keys.contains(&read.key),
        };
        if !wanted && kind.absent.is_none() {
            self.others.push((read.key, read.id));
            return Ok(());
        }
        let version = read.version.or_else(|| version.cloned());
        let Reading { value, first } = whole()?;
        let judge =
            |value| listed(kind, read.key.clone(), read.id.clone(), version.clone(), value, &reader.vars);
        let item = match first {
            None => judge(value)?,
            Some(first) => one_of(judge(first)?, judge(value)?).map_err(ItemError::Twice)?,
        };
        match item {
            Some(item) if wanted => self.items.push(item),
            Some(item) => self.others.push((item.key, item.server_id)),
            None => {}
        }
        Ok(())
    }
}

impl<'a> Reader<'a> {
    pub fn new(of: Listed<'a>, answer: &HttpAnswer) -> Reader<'a> {
        let version = match &of.kind.version {
            Version::OnItem(filter) => Some(filter),
            _ => None,
        };
        let parts = of.kind.parts.iter().filter_map(|part| place_of(of.kind, part));
        let filters = parts.chain([&of.kind.id]).chain(version);
        Reader { of, vars: of.vars(answer), paths: filters.filter_map(Filter::plain).collect() }
    }

    /// What filters on an element may name.
    pub fn vars(&self) -> &Vars {
        &self.vars
    }

    /// An element as text.
    pub fn raw(&self, element: &str) -> Result<Read, ItemError> {
        let found = match scan::pick(element, &self.paths) {
            Ok(found) => found,
            // What stands twice may say the same where it counts.
            Err(Unpicked::Twice(_)) => {
                return self.either(&twice::read(element).map_err(|_| ItemError::Unreadable)?);
            }
            Err(Unpicked::NotJson) => return Err(ItemError::Unreadable),
        };
        let read = self.read(&mut |filter: &Filter| {
            let path = filter.plain().expect("only plain paths come here");
            let at = self.paths.iter().position(|have| *have == path).expect("all paths were picked");
            found[at].map(|text| serde_json::from_str(text).map_err(|_| ItemError::Unreadable)).transpose()
        });
        read.map_err(|error| match serde_json::from_str(element) {
            Ok(element) => self.explain(error, &element),
            Err(_) => error,
        })
    }

    /// An element as a tree, whichever of the members counts that stand twice in it.
    fn either(&self, element: &Reading) -> Result<Read, ItemError> {
        let Reading { value, first } = element;
        let read = self.tree(value)?;
        match first.as_ref().map(|first| (first, self.tree(first))) {
            Some((_, Ok(other))) if (&other.key, &other.id) == (&read.key, &read.id) => Ok(read),
            Some((first, _)) => Err(ItemError::Twice(twice::place(first, value))),
            None => Ok(read),
        }
    }

    /// An element as a tree.
    pub fn tree(&self, element: &Value) -> Result<Read, ItemError> {
        let read = self.read(&mut |filter: &Filter| Ok(look(filter, element, &self.vars)?));
        read.map_err(|error| self.explain(error, element))
    }

    /// Says of an element that is a bare key how to make an item of it.
    fn explain(&self, error: ItemError, element: &Value) -> ItemError {
        let ItemError::NoPart { part, filter: Some(_) } = &error else { return error };
        let place = self.of.kind.part(part).and_then(Part::place);
        let (true, Some(place)) = (element.is_string() || element.is_number(), place) else { return error };
        let item = place.iter().rev().fold(".".to_owned(), |inner, name| format!("{{{name}: {inner}}}"));
        let list = self.of.list.items.as_ref().map_or(".", Filter::text);
        let items = format!("{list} | map({item})");
        ItemError::Bare { part: part.clone(), found: type_name(element), items }
    }

    fn read(
        &self,
        find: &mut dyn FnMut(&Filter) -> Result<Option<Value>, ItemError>,
    ) -> Result<Read, ItemError> {
        let kind = self.of.kind;
        let key = key_of(kind, &self.of.collection.scope, find)?;
        let id = id_text(&kind.id, find(&kind.id)?)?;
        let version = match &kind.version {
            Version::OnItem(filter) => find(filter)?.as_ref().and_then(version_token),
            _ => None,
        };
        Ok(Read { key, id, version })
    }
}
