//! Values that are saved as the text that people write: parsed and printed by their own `FromStr`
//! and `Display`.

/// Gives a type the conversions that `#[serde(into = "String", try_from = "String")]` asks for.
macro_rules! saved_as_text {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = <$type as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}

pub(crate) use saved_as_text;
