//! Values that are saved as text, through their `FromStr` and `Display`.

/// Implements the conversions that `#[serde(into = "String", try_from = "String")]` needs.
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
