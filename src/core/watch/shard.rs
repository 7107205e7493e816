//! Which of several instances an object is the business of: rendezvous hashing (Thaler and Ravishankar, 1998).
//!
//! Everybody who sees the same members comes to the same answer, and when one comes or goes only its own share moves.
//! Two that see other members may both take an object for theirs, so who comes waits until all others have seen it
//! ([`Leases::acts`](super::lease::Leases::acts)); none may for a while, and the resync sees to that.

use super::super::digest::Digest;
use super::super::identity::ObjectId;

/// The member that an object belongs to; `None` where there is no member.
pub fn owner(id: &ObjectId, members: impl IntoIterator<Item = usize>) -> Option<usize> {
    let name = format!("{}/{}", id.kind.backend, id.slashed());
    let weight = |member: &usize| (Digest::of_bytes(format!("{member}\n{name}").as_bytes()), *member);
    members.into_iter().max_by_key(weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::identity::{Key, KindName};

    const OBJECTS: usize = 4000;

    fn owners(members: &[usize]) -> Vec<usize> {
        let id = |at: usize| ObjectId {
            kind: KindName { backend: "mq".into(), kind: "Queue".into() },
            key: Key::new(vec![("name".into(), format!("q{at}").into())]),
        };
        (0..OBJECTS).map(|at| owner(&id(at), members.iter().copied()).expect("there are members")).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// One that goes leaves its share to the others, who keep theirs; it is the reverse of one that comes.
        #[test]
        fn only_the_share_of_one_moves(members in proptest::collection::btree_set(0usize..40, 2..8), at in 0usize..8) {
            let all: Vec<usize> = members.iter().copied().collect();
            let gone = all[at % all.len()];
            let rest: Vec<usize> = all.iter().copied().filter(|member| *member != gone).collect();
            let (before, after) = (owners(&all), owners(&rest));
            let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(before == after || *before == gone);
            }
            let share = OBJECTS / all.len();
            prop_assert!(moved * 10 > share * 8 && moved * 10 < share * 12, "{moved} of {share}");
            let turned: Vec<usize> = all.iter().rev().copied().collect();
            prop_assert_eq!(owners(&turned), before, "in whatever order they are known");
        }
    }

    #[test]
    fn nobody_has_nothing() {
        let id = ObjectId {
            kind: KindName { backend: "mq".into(), kind: "Queue".into() },
            key: Key::new(Vec::new()),
        };
        assert_eq!(owner(&id, []), None);
        assert_eq!(owner(&id, [7]), Some(7));
    }
}
