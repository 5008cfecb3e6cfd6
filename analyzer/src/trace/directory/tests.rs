//! Of the directory of a trace.

use super::*;

#[test]
fn ids_far_apart_take_little_room() {
    let ids = IndexOfIds::new(&[(0, 0), (7, 1), (u32::MAX, 2)]);
    assert!(matches!(ids, IndexOfIds::Sparse(_)));
    assert_eq!(
        [0, 7, u32::MAX, 8].map(|id| ids.get(id)),
        [Some(0), Some(1), Some(2), None]
    );
    let ids = IndexOfIds::new(&[(0, 0), (1, 1), (3, 2)]);
    assert!(matches!(ids, IndexOfIds::Dense(_)));
    assert_eq!(
        [0, 1, 2, 3, 4].map(|id| ids.get(id)),
        [Some(0), Some(1), None, Some(2), None]
    );
    assert_eq!(IndexOfIds::new(&[]).get(0), None);
}
