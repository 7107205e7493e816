//! Bodies as forms: `application/x-www-form-urlencoded` (WHATWG URL, section 5.2), with the names that Stripe and
//! PHP gave to nested values: `a[b]` is a member of a map, `a[0]` an element of a list.
//!
//! A form has texts only. What it has no spelling for is an error here, and never something near it.

use url::form_urlencoded::Serializer;

use crate::core::value::{Value, type_name};

/// The media type.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// A value that a form cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("a form is a map, or a list of `{{key, value}}`, and this body is {0}")]
    NotAMap(&'static str),
    #[error("`{0}` is an empty {1}, which a form cannot say")]
    Empty(String, &'static str),
    #[error("`{0}` has a member `{1}`, whose brackets a form could not tell from its own")]
    Brackets(String, String),
}

/// Whether a media type, parameters and all, is that of forms.
pub fn is_form(media: &str) -> bool {
    media.split(';').next().unwrap_or(media).trim().eq_ignore_ascii_case(FORM)
}

/// A body as a form. Members go by their names; numbers keep their digits; null is an empty text, which is how
/// such APIs unset a field.
///
/// A list of `{key, value}` is sent pair by pair, as it stands: so a filter can name one parameter twice.
///
/// # Errors
/// A body that is no map; an empty map or list inside; a member below the top with a bracket in its name.
pub fn encode(body: &Value) -> Result<String, FormError> {
    let mut form = Serializer::new(String::new());
    match body {
        Value::Object(map) => map.iter().try_for_each(|(name, value)| add(&mut form, name.clone(), value))?,
        Value::Array(entries) => {
            for entry in entries {
                let (name, value) = pair(entry).ok_or(FormError::NotAMap("a list of something else"))?;
                add(&mut form, name, value)?;
            }
        }
        other => return Err(FormError::NotAMap(type_name(other))),
    }
    Ok(form.finish())
}

/// A name and its value, as jq's `to_entries` makes them.
fn pair(entry: &Value) -> Option<(String, &Value)> {
    let map = entry.as_object().filter(|map| map.len() == 2)?;
    Some((map.get("key")?.as_str()?.to_owned(), map.get("value")?))
}

fn add(form: &mut Serializer<String>, name: String, value: &Value) -> Result<(), FormError> {
    match value {
        Value::Object(map) if map.is_empty() => return Err(FormError::Empty(name, "map")),
        Value::Array(items) if items.is_empty() => return Err(FormError::Empty(name, "list")),
        Value::Object(map) => {
            for (member, value) in map {
                if member.contains(['[', ']']) {
                    return Err(FormError::Brackets(name, member.clone()));
                }
                add(form, format!("{name}[{member}]"), value)?;
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                add(form, format!("{name}[{at}]"), item)?;
            }
        }
        Value::Null => drop(form.append_pair(&name, "")),
        Value::String(text) => drop(form.append_pair(&name, text)),
        // As in JSON: a number with each of its digits.
        Value::Number(_) | Value::Bool(_) => drop(form.append_pair(&name, &value.to_string())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Without the escapes of brackets, which only hide the names.
    fn said(body: &Value) -> String {
        encode(body).expect("a form").replace("%5B", "[").replace("%5D", "]")
    }

    #[test]
    fn values_are_said_as_stripe_says_them() {
        let wide: Value = serde_json::from_str("123456789012345678901234567890.50").expect("a number");
        for (body, want) in [
            (json!({}), ""),
            (json!({"name": "a b&c=d+ü", "n": 7}), "n=7&name=a+b%26c%3Dd%2B%C3%BC"),
            (json!({"on": true, "off": false, "gone": null, "empty": ""}), "empty=&gone=&off=false&on=true"),
            (json!({"metadata": {"a": {"b": 1}, "c": "x"}}), "metadata[a][b]=1&metadata[c]=x"),
            (
                json!({"items": [{"price": "p", "tags": ["x", "y"]}]}),
                "items[0][price]=p&items[0][tags][0]=x&items[0][tags][1]=y",
            ),
            (json!({"wide": wide}), "wide=123456789012345678901234567890.50"),
            (json!({"tags[]": "x"}), "tags[]=x"),
            (json!([{"key": "e", "value": "a"}, {"value": "b", "key": "e"}]), "e=a&e=b"),
            (json!([{"key": "m", "value": {"x": 1}}]), "m[x]=1"),
        ] {
            assert_eq!(said(&body), want, "{body}");
        }
    }

    #[test]
    fn what_a_form_cannot_say_is_an_error() {
        for (body, want) in [
            (json!("text"), "a form is a map, or a list of `{key, value}`, and this body is a string"),
            (
                json!([1]),
                "a form is a map, or a list of `{key, value}`, and this body is a list of something else",
            ),
            (json!({"m": {"a": {}}}), "`m[a]` is an empty map, which a form cannot say"),
            (json!({"l": []}), "`l` is an empty list, which a form cannot say"),
            (
                json!({"m": {"a[b]": 1}}),
                "`m` has a member `a[b]`, whose brackets a form could not tell from its own",
            ),
        ] {
            assert_eq!(encode(&body).expect_err("no form").to_string(), want);
        }
        assert!(is_form("Application/X-WWW-form-urlencoded; charset=utf-8") && !is_form("application/json"));
    }

    proptest::proptest! {
        /// Whatever stands in a flat map comes back out of the form.
        #[test]
        fn a_flat_form_reads_back(pairs in proptest::collection::btree_map("\\PC{0,6}", "\\PC{0,6}", 0..6)) {
            let body = json!(pairs);
            let text = encode(&body).expect("a form");
            let back: Vec<(String, String)> = url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
            proptest::prop_assert_eq!(back.into_iter().collect::<std::collections::BTreeMap<_, _>>(), pairs);
        }
    }
}
