//! What the processes of a cluster know and others do not.

use std::fmt;
use std::fs::File;
use std::io::Read;

/// Bytes of the shortest secret that is taken.
const LEAST: usize = 16;

/// The secret. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret in a file, without the white space at its ends.
    pub fn of_file(bytes: &[u8]) -> Result<Secret, String> {
        let bytes = bytes.trim_ascii();
        match bytes.len() {
            0..LEAST => Err(format!(
                "a secret has at least {LEAST} characters; make one with \
                 `head -c 32 /dev/urandom | base64`"
            )),
            _ => Ok(Secret(bytes.to_vec())),
        }
    }

    /// A secret that nobody can guess, as text.
    pub fn random() -> Result<String, String> {
        Ok(random()?.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The code by which somebody who knows the secret vouches for a message in a role.
    pub(crate) fn vouch(&self, role: &str, message: &[&[u8]]) -> [u8; 32] {
        let message = [role.as_bytes(), &[0], &message.concat()].concat();
        digest::hmac_sha256(&self.0, &message)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random() -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")
        .and_then(|mut system| system.read_exact(&mut bytes))
        .map_err(|error| format!("the system gives no random numbers (/dev/urandom): {error}"))?;
    Ok(bytes)
}

/// Whether two codes are the same, in a time that does not depend on where they differ.
pub(crate) fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert!(Secret::of_file(b"hunter2\n").is_err());
        let secret = Secret::of_file(b" 0123456789abcdef\n").unwrap();
        assert_eq!(secret, Secret(b"0123456789abcdef".to_vec()));
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_ne!(Secret::random(), Secret::random());
    }
}
