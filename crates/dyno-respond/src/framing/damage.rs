//! Frames that are not what they should be, whatever API they belong to.

const OVERSIZE: usize = 21 * 1024 * 1024;
const BIG: usize = 200_000;

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDamage {
    /// It is not JSON.
    NotJson,
    /// It is larger than any client should accept.
    Oversize,
    /// Only its first half is sent.
    Half,
}

impl StreamDamage {
    /// Damages the data of a frame; whether only half of the frame is to be sent.
    pub(super) fn apply(self, json: &mut Vec<u8>) -> bool {
        match self {
            Self::NotJson => {
                json.truncate(json.len() / 2);
                json.extend_from_slice(b" oops");
            }
            Self::Oversize => {
                json.clear();
                json.extend_from_slice(b"{\"padding\":\"");
                json.resize(OVERSIZE, b'x');
                json.extend_from_slice(b"\"}");
            }
            Self::Half => return true,
        }
        false
    }
}

/// Pads an object with a field as large as log probabilities can be.
pub(super) fn pad(json: &mut Vec<u8>) {
    if json.first() != Some(&b'{') || json.last() != Some(&b'}') {
        return;
    }
    json.pop();
    json.extend_from_slice(br#","prompt_logprobs":[0"#);
    while json.len() < BIG {
        json.extend_from_slice(b",-0.125");
    }
    json.extend_from_slice(b"]}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_padded_object_is_big_and_still_json() {
        let mut json = r#"{"text":"é"}"#.as_bytes().to_vec();
        pad(&mut json);
        assert!(json.len() >= BIG);
        assert_eq!(serde_json::from_slice::<Value>(&json).unwrap()["text"], "é");
        let mut done = b"[DONE]".to_vec();
        pad(&mut done);
        assert_eq!(done, b"[DONE]");
    }

    #[test]
    fn damaged_data_is_no_json_or_too_large() {
        for json in [r#"{"a":1}"#, r#"{"a":"b c"}"#, "{}", "[DONE]"] {
            let mut damaged = json.as_bytes().to_vec();
            assert!(!StreamDamage::NotJson.apply(&mut damaged));
            assert!(serde_json::from_slice::<Value>(&damaged).is_err(), "{json}");
        }
        let mut json = b"{}".to_vec();
        StreamDamage::Oversize.apply(&mut json);
        assert!(json.len() > 20 * 1024 * 1024 && serde_json::from_slice::<Value>(&json).is_ok());
    }
}
