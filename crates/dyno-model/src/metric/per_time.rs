//! One value for each time.

use super::Time;
use crate::summary::Distribution;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Index, IndexMut};

/// One value for each [`Time`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PerTime<T>([T; Time::ALL.len()]);

impl<T> PerTime<T> {
    /// A value for each time.
    pub fn new(of: impl FnMut(Time) -> T) -> Self {
        Self(Time::ALL.map(of))
    }

    /// Each time with its value.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &T)> {
        Time::ALL.into_iter().zip(&self.0)
    }

    /// Each time with its value, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Time, &mut T)> {
        Time::ALL.into_iter().zip(&mut self.0)
    }

    /// Other values in their places.
    pub fn map<U>(self, mut to: impl FnMut(Time, T) -> U) -> PerTime<U> {
        let mut times = Time::ALL.into_iter();
        // There are as many times as values.
        PerTime(self.0.map(|value| to(times.next().unwrap_or(Time::Ttft), value)))
    }
}

impl<T> Index<Time> for PerTime<T> {
    type Output = T;

    fn index(&self, time: Time) -> &T {
        &self.0[time as usize]
    }
}

impl<T> IndexMut<Time> for PerTime<T> {
    fn index_mut(&mut self, time: Time) -> &mut T {
        &mut self.0[time as usize]
    }
}

/// By the keys of `summary.json`; what is absent is `null`, or left out if version 0.1 did not have it.
impl Serialize for PerTime<Option<Distribution>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (time, value) in self.iter() {
            if value.is_some() || !time.is_later() {
                map.serialize_entry(time.id(), value)?;
            }
        }
        map.end()
    }
}

/// Keys that do not name a time are ignored.
impl<'de> Deserialize<'de> for PerTime<Option<Distribution>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Times;

        impl<'de> Visitor<'de> for Times {
            type Value = PerTime<Option<Distribution>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("distributions of times")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut times = PerTime::default();
                while let Some(key) = map.next_key::<String>()? {
                    match Time::with_id(&key) {
                        Some(time) => times[time] = map.next_value()?,
                        None => _ = map.next_value::<serde::de::IgnoredAny>()?,
                    }
                }
                Ok(times)
            }
        }

        deserializer.deserialize_map(Times)
    }
}
