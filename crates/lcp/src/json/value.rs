use std::sync::Arc;

use super::Text;

/// A JSON value. Arrays and objects are shared, so a clone is cheap and stays the same value ([`Value::is`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, read as an IEEE double; a literal out of range is an infinity.
    Number(f64),
    /// A string.
    String(Text),
    /// An array.
    Array(Arc<[Value]>),
    /// An object.
    Object(Arc<Object>),
}

/// A JSON object: members in ECMAScript property order (array indices first, ascending; then as first written).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(Text, Value)>);

impl Value {
    /// The member of that name, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The string, if this is one.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The string, if this is one and holds no lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text()?.as_str()
    }

    /// The number, if it is an integer of magnitude below 2^53, the range in which doubles name integers exactly.
    pub fn as_safe_integer(&self) -> Option<i64> {
        match self {
            // The cast is exact: the guard bounds the magnitude and the fraction.
            #[allow(clippy::cast_possible_truncation)]
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 => Some(*number as i64),
            _ => None,
        }
    }

    /// A safe integer that is not negative.
    pub fn as_safe_unsigned(&self) -> Option<u64> {
        u64::try_from(self.as_safe_integer()?).ok()
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether both are the very same array or object, not merely equal ones.
    pub fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => Arc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether arrays and objects nest at most `levels` deep; a scalar is at level 0.
    pub fn nests_within(&self, levels: usize) -> bool {
        match self {
            Self::Array(items) => levels > 0 && items.iter().all(|item| item.nests_within(levels - 1)),
            Self::Object(object) => levels > 0 && object.iter().all(|(_, value)| value.nests_within(levels - 1)),
            _ => true,
        }
    }
}

impl Object {
    /// No members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether there is a member of that name.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a member: in place if it exists, else where property order puts it.
    pub fn set(&mut self, name: impl Into<Text>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        if let Some((_, held)) = self.0.iter_mut().find(|(key, _)| *key == name) {
            *held = value;
            return;
        }
        let place = match array_index(&name) {
            Some(index) => self.0.iter().take_while(|(key, _)| array_index(key).is_some_and(|other| other < index)).count(),
            None => self.0.len(),
        };
        self.0.insert(place, (name, value));
    }

    /// Sets a member, for building an object in one expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<Text>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets the member if there is a value.
    #[must_use]
    pub fn with_some(self, name: impl Into<Text>, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(place).1)
    }

    /// A copy without the member of that name.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(key, _)| key != name).cloned().collect())
    }

    /// The members in property order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &Value)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Builds from members as written: the last of a name wins and keeps the place of the first.
    pub(crate) fn from_source(members: Vec<(Text, Value)>) -> Self {
        let mut ordered: Vec<(Text, Value)> = Vec::with_capacity(members.len());
        let mut places = std::collections::HashMap::new();
        for (name, value) in members {
            if let Some(&place) = places.get(&name) {
                let slot: &mut (Text, Value) = &mut ordered[place];
                slot.1 = value;
            } else {
                places.insert(name.clone(), ordered.len());
                ordered.push((name, value));
            }
        }
        // Stable, so names that are no index keep their order behind those that are.
        ordered.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
        Self(ordered)
    }
}

/// An array index in ECMAScript's sense: a canonical decimal below 2^32 - 1.
fn array_index(name: &Text) -> Option<u32> {
    let digits = name.as_str()?;
    if digits.is_empty() || digits.len() > 10 || !digits.bytes().all(|b| b.is_ascii_digit()) || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    digits.parse().ok().filter(|&index| index != u32::MAX)
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<Text> for Value {
    fn from(value: Text) -> Self {
        Self::String(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

/// As the nearest double, which is exact below 2^53.
impl From<u64> for Value {
    fn from(value: u64) -> Self {
        #[allow(clippy::cast_precision_loss)]
        Self::Number(value as f64)
    }
}

/// As the nearest double, which is exact between -2^53 and 2^53.
impl From<i64> for Value {
    fn from(value: i64) -> Self {
        #[allow(clippy::cast_precision_loss)]
        Self::Number(value as f64)
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Self {
        Self::Object(Arc::new(value))
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Self::Array(value.into())
    }
}

impl<const N: usize> From<[Value; N]> for Value {
    fn from(value: [Value; N]) -> Self {
        Self::Array(Arc::new(value))
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_property_order() {
        let object = Object::new().with("b", 1u32).with("10", 2u32).with("a", 3u32).with("9", 4u32).with("01", 5u32);
        let names: Vec<_> = object.iter().map(|(name, _)| name.as_str().unwrap()).collect();
        assert_eq!(names, ["9", "10", "b", "a", "01"]);
    }

    #[test]
    fn safe_integers() {
        assert_eq!(Value::Number(60.0).as_safe_integer(), Some(60));
        assert_eq!(Value::Number(9_007_199_254_740_991.0).as_safe_integer(), Some(9_007_199_254_740_991));
        assert_eq!(Value::Number(9_007_199_254_740_992.0).as_safe_integer(), None);
        assert_eq!(Value::Number(0.5).as_safe_integer(), None);
        assert_eq!(Value::Number(f64::INFINITY).as_safe_integer(), None);
        assert_eq!(Value::Bool(true).as_safe_integer(), None);
    }

    #[test]
    fn identity_is_not_equality() {
        let a = Value::from(Object::new().with("x", 1u32));
        assert!(a.is(&a.clone()));
        assert!(!a.is(&Value::from(Object::new().with("x", 1u32))));
    }
}
