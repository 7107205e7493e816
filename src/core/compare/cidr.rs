//! IP addresses and prefixes: `2001:DB8:0:0::1` = `2001:db8::1`, `10.0.0.1/32` = `10.0.0.1`.
//!
//! Host bits count: `10.0.0.5/8` may be an interface's address, and is not `10.0.0.0/8`.

// Addresses as values, from the part of the standard library that has no sockets.
use ::core::net::IpAddr;

use crate::core::value::Value;

/// The address in its canonical text (RFC 5952), with the length of the prefix unless it is the whole address.
pub(super) fn normal(text: &str) -> Option<Value> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        Some(length) if length.bytes().all(|b| b.is_ascii_digit()) => length.parse::<u8>().ok()?,
        Some(_) => return None,
        None => whole,
    };
    Some(Value::String(match length {
        length if length > whole => return None,
        length if length == whole => address.to_string(),
        length => format!("{address}/{length}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use crate::core::fields::Comparer;

    #[test]
    fn addresses_are_bits() {
        check(
            &Comparer::Cidr,
            &[
                &["2001:DB8:0:0::1", "2001:db8::1", "2001:0db8:0000::0001", "2001:db8::1/128"],
                &["10.0.0.1", "10.0.0.1/32"],
                &["2001:DB8::/32", "2001:db8:0::/32"],
                &["::ffff:1.2.3.4", "::FFFF:102:304"],
                &["web", "web"],
            ],
            &[
                ("10.0.0.5/8", "10.0.0.0/8"),
                ("10.0.0.0/8", "10.0.0.0/9"),
                ("10.0.0.01", "10.0.0.1"),
                ("10.0.0.1/33", "10.0.0.1"),
                ("10.0.0.1/+32", "10.0.0.1"),
                ("10.0.0.1/", "10.0.0.1"),
            ],
        );
    }
}
