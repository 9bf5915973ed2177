//! Which sessions belong together: those that one session started, directly or by others, and records that share a name.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use dyno_model::{Message, message};

/// What a file says of the session that started one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// Nothing: it is a root.
    None,
    /// Its place.
    At(usize),
    /// Its name, which no session of the file has.
    Absent(String),
}

/// A root and all that it started, each after its parent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// The places of the sessions.
    pub(super) members: Vec<usize>,
    /// The place of each one's parent among the members.
    pub(super) parents: Vec<Option<usize>>,
}

/// All families in the order of their roots, and the sessions that have no root, with the reason.
pub(super) fn families(parents: &[Parent], field: &str) -> (Vec<Family>, Vec<(usize, Message)>) {
    let mut wrong = Vec::new();
    let mut of_root: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for place in 0..parents.len() {
        match root(parents, place, field) {
            Ok((root, depth)) => of_root.entry(root).or_default().push((depth, place)),
            Err(what) => wrong.push((place, what)),
        }
    }
    let family = |mut members: Vec<(usize, usize)>| {
        members.sort_unstable();
        let members: Vec<usize> = members.into_iter().map(|(_, place)| place).collect();
        let within: HashMap<usize, usize> =
            members.iter().enumerate().map(|(number, place)| (*place, number)).collect();
        let parent = |place: &usize| match &parents[*place] {
            Parent::At(parent) => within.get(parent).copied(),
            _ => None,
        };
        Family { parents: members.iter().map(parent).collect(), members }
    };
    (of_root.into_values().map(family).collect(), wrong)
}

/// The root of a session and how far below it the session is.
fn root(parents: &[Parent], mut place: usize, field: &str) -> Result<(usize, usize), Message> {
    for depth in 0..=parents.len() {
        match &parents[place] {
            Parent::None => return Ok((place, depth)),
            Parent::At(parent) => place = *parent,
            Parent::Absent(name) => {
                return Err(message!(
                    "field {field:?}: the session {name:?} is missing",
                    "字段 {field:?}：缺少会话 {name:?}"
                ));
            }
        }
    }
    Err(message!(
        "field {field:?}: sessions started each other in a cycle",
        "字段 {field:?}：会话循环启动"
    ))
}

/// Which of some records share a name, directly or by others: for each the first of those that do.
pub(super) fn groups<N: Eq + Hash>(names: impl IntoIterator<Item = Vec<N>>) -> Vec<usize> {
    let mut above: Vec<usize> = Vec::new();
    let mut first: HashMap<N, usize> = HashMap::new();
    for (one, names) in names.into_iter().enumerate() {
        above.push(one);
        for name in names {
            let other = *first.entry(name).or_insert(one);
            let (a, b) = (top(&mut above, other), top(&mut above, one));
            above[a.max(b)] = a.min(b);
        }
    }
    (0..above.len()).map(|one| top(&mut above, one)).collect()
}

fn top(above: &mut [usize], mut one: usize) -> usize {
    while above[one] != one {
        above[one] = above[above[one]];
        one = above[one];
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_comes_before_its_children_and_who_has_no_root_is_told() {
        let parents = [
            Parent::At(2),
            Parent::None,
            Parent::At(3),
            Parent::None,
            Parent::At(3),
            Parent::Absent("x".into()),
            Parent::At(5),
            Parent::At(8),
            Parent::At(7),
        ];
        let (families, wrong) = families(&parents, "parent");
        let members: Vec<_> = families.iter().map(|family| family.members.clone()).collect();
        assert_eq!(members, [vec![1], vec![3, 2, 4, 0]]);
        assert_eq!(families[1].parents, [None, Some(0), Some(0), Some(1)]);
        let said: Vec<_> = wrong.iter().map(|(place, what)| (*place, what.to_string())).collect();
        let absent = "field \"parent\": the session \"x\" is missing".to_owned();
        let cycle = "field \"parent\": sessions started each other in a cycle".to_owned();
        let expected = [(5, absent.clone()), (6, absent), (7, cycle.clone()), (8, cycle)];
        assert_eq!(said, expected);
    }

    #[test]
    fn records_with_a_name_in_common_are_together() {
        let names = [vec!["a"], vec!["b"], vec!["c", "a"], vec!["d"], vec!["b", "c"]];
        assert_eq!(groups(names), [0, 0, 0, 3, 0]);
    }
}
