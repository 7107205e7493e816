//! From a path to what it names, and from a query to its pairs.

use crate::server::store::{Index, Key, decode};

use super::problem::Problem;

/// What a path names. Collections and items alternate, to any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Root,
    Health,
    Collection(Key),
    Item(Key),
    /// The status of an item, where it is apart.
    Status(Key),
}

impl Target {
    /// The same path where some collections keep the status of their items apart.
    ///
    /// # Errors
    /// A path below a status: nothing can be there.
    pub fn resolved(self, index: &Index) -> Result<Target, Problem> {
        match &self {
            Target::Collection(path) => Ok(index.status_of(path).map_or(self, Target::Status)),
            Target::Item(key) if index.status_of(&key.parent()).is_some() => {
                Err(Problem::not_found("there is nothing below a status"))
            }
            _ => Ok(self),
        }
    }
}

/// Reads a path as it was sent. Each segment is unescaped once.
pub fn target(path: &str) -> Result<Target, Problem> {
    match path {
        "" | "/" => return Ok(Target::Root),
        "/healthz" => return Ok(Target::Health),
        _ => {}
    }
    let mut key = Key::root();
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        let name = decode(segment)
            .ok_or_else(|| Problem::bad_request(format!("the segment `{segment}` has a broken escape")))?;
        if name.is_empty() {
            return Err(Problem::not_found("the path has an empty segment"));
        }
        if name == "." || name == ".." || name.chars().any(char::is_control) {
            return Err(Problem::bad_request(format!("`{segment}` cannot be a name")));
        }
        key = key.child(&name);
    }
    Ok(if key.depth() % 2 == 1 { Target::Collection(key) } else { Target::Item(key) })
}

/// The pairs of a query, unescaped as forms are: `+` is a space.
pub fn pairs(query: &str) -> Result<Vec<(String, String)>, Problem> {
    let text = |part: &str| {
        decode(&part.replace('+', " "))
            .ok_or_else(|| Problem::bad_request(format!("`{part}` in the query has a broken escape")))
    };
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((text(name)?, text(value)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_alternate_and_are_unescaped_once() {
        let teams = Key::root().child("teams");
        let spaces = Key::root().child("spaces");
        for (path, want) in [
            ("/", Target::Root),
            ("/healthz", Target::Health),
            ("/teams", Target::Collection(teams.clone())),
            ("/teams/7", Target::Item(teams.child("7"))),
            ("/teams/7/members", Target::Collection(teams.child("7").child("members"))),
            ("/spaces/a%2Fb/services/web", Target::Item(spaces.child("a/b").child("services").child("web"))),
            ("/spaces/%252F", Target::Item(spaces.child("%2F"))),
            ("/spaces/%C3%BC+x", Target::Item(spaces.child("ü+x"))),
        ] {
            assert_eq!(target(path).expect("a path"), want, "{path}");
        }
    }

    #[test]
    fn paths_that_could_mean_another_object_are_refused() {
        for (path, status) in [
            ("/teams/", 404),
            ("//teams", 404),
            ("/teams//x", 404),
            ("/teams/..", 400),
            ("/teams/%2e%2E", 400),
            ("/teams/.", 400),
            ("/teams/a%0d%0ab", 400),
            ("/teams/%zz", 400),
            ("/teams/%ff", 400),
        ] {
            assert_eq!(target(path).expect_err(path).status.as_u16(), status, "{path}");
        }
    }

    #[test]
    fn a_query_is_read_as_a_form() {
        let want = [("a", "1 2"), ("b c", "x&y"), ("d", "")];
        let got = pairs("a=1+2&b%20c=x%26y&&d").expect("a query");
        assert_eq!(got, want.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert!(pairs("a=%").is_err());
    }
}
