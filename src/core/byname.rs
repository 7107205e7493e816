//! Secrets by the names of their fields: what is called a password is not shown, whoever forgot to say that it is one.
//!
//! Only showing is affected. What is compared and sent is what it would be under any other name, and a kind says with
//! the word `plain` that a field is none.

/// What the name of a field says of the texts that stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    #[default]
    None,
    /// A text is a secret. A number is a limit or a count: `max_tokens`.
    Text,
    /// A number is one as well: `password: 12345`.
    Any,
}

/// The last word of a name whose value is a password, as a text or as a number.
const PASSWORDS: [&str; 5] = ["password", "passwords", "passwd", "passphrase", "passcode"];
/// The last word of a name whose text is a secret. Lists of `secrets` are of their names as a rule.
const SECRETS: [&str; 7] = ["secret", "token", "tokens", "credential", "credentials", "psk", "jwt"];
/// Two words in one, or at the end.
const PAIRS: [(&str, &str); 15] = [
    ("api", "key"),
    ("api", "keys"),
    ("private", "key"),
    ("secret", "key"),
    ("access", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("shared", "key"),
    ("auth", "key"),
    ("account", "key"),
    ("master", "key"),
    ("hmac", "key"),
    ("password", "hash"),
    ("connection", "string"),
    ("pass", "phrase"),
];
/// Words before a token that is none to keep.
const OPEN: [&str; 6] = ["public", "page", "next", "continue", "continuation", "sync"];

/// What a name says. Its end decides, in words: `token_ttl`, `passwordPolicy` and `secretName` are of something else.
pub fn hint(name: &str) -> Hint {
    // Most names have none of these in them.
    let words = words(name);
    let mut last = words.iter().rev();
    let (Some(end), before) = (last.next(), last.next()) else { return Hint::None };
    if before.is_some_and(|word| OPEN.contains(&word.as_str())) {
        return Hint::None;
    }
    let paired = |pair: &(&str, &str)| match before {
        Some(before) if before == pair.0 && end == pair.1 => true,
        _ => end.strip_prefix(pair.0) == Some(pair.1),
    };
    match end.as_str() {
        end if PASSWORDS.contains(&end) => Hint::Any,
        end if SECRETS.contains(&end) => Hint::Text,
        _ if PAIRS.iter().any(paired) => Hint::Text,
        _ => Hint::None,
    }
}

/// The words of a name, in lower case: between letters of another case, at signs and before digits.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let after_lower = at > 0 && chars[at - 1].is_lowercase();
        // The last capital of several begins the next word: `APIKey`.
        let before_lower =
            at > 0 && chars[at - 1].is_uppercase() && chars.get(at + 1).is_some_and(|c| c.is_lowercase());
        if !c.is_alphabetic() || (c.is_uppercase() && (after_lower || before_lower)) {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("there is one from the start").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_whose_end_is_a_secret() {
        for name in [
            "token",
            "apiToken",
            "API_TOKEN",
            "client_secret",
            "clientSecret",
            "api_key",
            "apiKey",
            "apikey",
            "APIKey",
            "api-keys",
            "x-api-key",
            "privateKey",
            "private_key",
            "PRIVATEKEY",
            "secretAccessKey",
            "aws_secret_access_key",
            "credential",
            "git.credentials",
            "password_hash",
            "connectionString",
            "token2",
            "wifi_psk",
            "secret",
        ] {
            assert_eq!(hint(name), Hint::Text, "{name}");
        }
        for name in [
            "password",
            "Password",
            "adminPassword",
            "DB_PASSWD",
            "root-password",
            "passphrase",
            "pass_phrase2",
        ] {
            assert_ne!(hint(name), Hint::None, "{name}");
        }
    }

    #[test]
    fn names_of_something_else() {
        for name in [
            "",
            "name",
            "key",
            "keys",
            "id",
            "pass",
            "bypass",
            "token_ttl",
            "tokenTTL",
            "token_type",
            "tokenUrl",
            "secretName",
            "secretRef",
            "secret_id",
            "secrets",
            "imagePullSecrets",
            "passwordPolicy",
            "password_min_length",
            "password_file",
            "credentialsFile",
            "next_page_token",
            "pageToken",
            "continuation_token",
            "public_token",
            "public_key",
            "primary_key",
            "keyring",
            "monkey",
            "tokenizer",
            "secretary",
            "undertoken",
            "compass",
            "hash",
            "api_key_id",
            "access_keys_enabled",
        ] {
            assert_eq!(hint(name), Hint::None, "{name}");
        }
    }
}
