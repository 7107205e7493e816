//! Finds the object that `--lease` names: `KIND/NAME`, or `BACKEND/KIND/NAME` where several backends have the kind.

use std::sync::Arc;

use crate::backend::path::unescape;
use crate::core::identity::{KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::problem::Problem;
use crate::manifest::KindSource;

/// An object that instances take turns by.
#[derive(Clone, Debug)]
pub struct LeaseObject {
    pub kind: Arc<Kind>,
    pub id: ObjectId,
}

impl LeaseObject {
    /// One of several beside it, for shards: its name with a number.
    pub fn numbered(&self, number: usize) -> ObjectId {
        let mut parts = self.id.key.parts().to_vec();
        if let Some((_, name)) = parts.last_mut() {
            *name = format!("{}-{number}", crate::core::value::plain_text(name)).into();
        }
        ObjectId { kind: self.id.kind.clone(), key: self.kind.key_of(parts) }
    }
}

/// Finds it among the kinds that the backends have.
///
/// # Errors
/// A name that fits no kind or several; a kind whose objects cannot be leases, and why.
pub fn find(text: &str, kinds: &dyn KindSource) -> Result<LeaseObject, Problem> {
    let wrong = |what: String| Problem::new(format!("`--lease {}`: {what}", text.escape_debug()));
    let words: Vec<String> = text.split('/').map(unescape).collect();
    if words.len() < 2 || words.iter().any(String::is_empty) {
        return Err(wrong("it names no object".into())
            .hint("write it like `--lease Lease/trueup`: a kind, and the parts of a name, percent-encoded"));
    }
    let backends = kinds.backends();
    let named = backends.iter().find(|backend| ***backend == *words[0]).filter(|_| words.len() > 2);
    let (of, words) = match named {
        Some(backend) => (vec![backend.clone()], &words[1..]),
        None => (backends, &words[..]),
    };
    let (kind, names) = words.split_first().expect("there are two words");
    let has = |backend: &&Arc<str>| kinds.kinds_of(backend).iter().any(|have| **have == **kind);
    let mut having: Vec<&Arc<str>> = of.iter().filter(has).collect();
    if having.is_empty() {
        // One that takes any kind.
        having = of.iter().filter(|backend| kinds.kinds_of(backend).is_empty()).collect();
    }
    let backend = match having[..] {
        [backend] => backend,
        [] => {
            let hint = "declare the kind in a backend, with its `lease`";
            return Err(wrong(format!("no backend has a kind `{kind}`")).hint(hint));
        }
        _ => {
            let hint = format!("say which: `--lease {}/{text}`", having[0]);
            return Err(wrong(format!("several backends have a kind `{kind}`")).hint(hint));
        }
    };
    let name = KindName { backend: backend.clone(), kind: kind.as_str().into() };
    let found = kinds.kind(&name, &[]).ok_or_else(|| wrong(format!("there is no kind `{kind}`")))?;
    found.as_lease().map_err(|(why, hint)| wrong(why).hint(hint))?;
    if found.parts.len() != names.len() {
        let parts: Vec<&str> = found.parts.iter().map(|part| &*part.name).collect();
        let hint = format!("the name of a `{kind}` is {kind}/{}", parts.join("/").to_uppercase());
        return Err(wrong(format!("a `{kind}` has {} parts in its name", parts.len())).hint(hint));
    }
    let parts = found.parts.iter().zip(names).map(|(part, name)| (part.name.clone(), name.as_str().into()));
    let id = ObjectId { kind: name, key: found.key_of(parts.collect()) };
    Ok(LeaseObject { kind: found, id })
}
