use proptest::prelude::*;

use super::*;

fn boxed(called: u64) -> OpenBox {
    OpenBox {
        called,
        caller: called.checked_sub(1),
        predicate: 7,
        called_as: 7,
        last_calls: 0,
        way: 0,
    }
}

#[derive(Debug, Clone)]
enum Op {
    Push(u16),
    Pop(u16),
    Change,
    Truncate(usize),
    Freeze,
    Copy,
    Swap,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1..100_u16).prop_map(Op::Push),
        3 => (1..100_u16).prop_map(Op::Pop),
        1 => Just(Op::Change),
        1 => (0..400_usize).prop_map(Op::Truncate),
        2 => Just(Op::Freeze),
        1 => Just(Op::Copy),
        1 => Just(Op::Swap),
    ]
}

proptest! {
    /// Like two plain lists, one of which was copied from the other now and then.
    #[test]
    fn as_a_list(ops in prop::collection::vec(op(), 0..100)) {
        let mut pair = (Stack::default(), Vec::new());
        let mut other = pair.clone();
        for (number, op) in (0..).step_by(1000).zip(ops) {
            let (stack, list) = &mut pair;
            match op {
                Op::Push(times) => for i in 0..u64::from(times) {
                    stack.push(boxed(number + i));
                    list.push(boxed(number + i));
                },
                Op::Pop(times) => for _ in 0..times {
                    prop_assert_eq!(stack.pop(), list.pop());
                },
                Op::Change => {
                    let newest = [stack.newest_mut().map(|(open, ())| open), list.last_mut()];
                    newest.into_iter().flatten().for_each(|each| each.last_calls += number);
                }
                Op::Truncate(len) => {
                    stack.truncate(len);
                    list.truncate(len);
                }
                Op::Freeze => stack.freeze(),
                Op::Copy => other = pair.clone(),
                Op::Swap => std::mem::swap(&mut pair, &mut other),
            }
            for (stack, list) in [&pair, &other] {
                prop_assert_eq!(stack.len(), list.len());
                prop_assert_eq!(stack.last(), list.last());
                prop_assert!(stack.newest().eq(list.iter().rev().copied()));
                prop_assert_eq!(&stack.to_vec(), list);
                prop_assert_eq!(stack.is_empty(), list.is_empty());
            }
            prop_assert_eq!(pair.0 == other.0, pair.1 == other.1);
        }
    }

    /// The changes of a stack lead to what it is.
    #[test]
    fn changes_add_up(ops in prop::collection::vec((op(), any::<bool>()), 0..100)) {
        let (mut stack, mut sum) = (Stack::default(), Frozen::default());
        for (number, (op, asked)) in (0..).step_by(1000).zip(ops) {
            match op {
                Op::Push(times) => (0..u64::from(times)).for_each(|i| stack.push(boxed(number + i))),
                Op::Pop(times) => (0..times).for_each(|_| { stack.pop(); }),
                Op::Change => stack.newest_mut().into_iter().for_each(|(each, ())| each.last_calls += number),
                Op::Truncate(len) => stack.truncate(len),
                Op::Freeze | Op::Copy | Op::Swap => stack.freeze(),
            }
            if asked {
                sum.change(&stack.change());
                prop_assert!(Stack::from(sum.clone()) == stack);
                if number % 2000 == 0 {
                    stack = sum.clone().into();
                }
            }
        }
    }

    /// Whatever is in a box, it comes out as it went in.
    #[test]
    fn packed_boxes_are_the_same(
        rows in prop::collection::vec((any::<u64>(), any::<Option<u64>>(), any::<u32>(), any::<u32>(), any::<u64>(), any::<u32>()), 1..200),
        len in 1..200_u64,
    ) {
        let boxes: Vec<OpenBox> = rows
            .into_iter()
            .map(|(called, caller, predicate, called_as, last_calls, way)| OpenBox {
                called, caller, predicate, called_as, last_calls, way,
            })
            .collect();
        let packed = Packed::new(boxes.iter().copied());
        prop_assert!(packed.all(|boxed| boxes.contains(boxed)));
        let oldest = &boxes[..boxes.len().min(len as usize)];
        prop_assert!(oldest.ends_with(&packed.newest(len)));
        prop_assert_eq!(&packed.oldest(len as usize), oldest);
    }
}

#[test]
fn a_deep_stack_takes_few_bytes() {
    let packed = Packed::new((0..100_000).map(boxed));
    assert!(packed.size() < 3 * 100_000, "{}", packed.size());
}

#[test]
fn many_segments_end_without_recursion() {
    let run = || {
        let one = Arc::new(Packed::new([boxed(1)]));
        let mut frozen = Frozen::default();
        (0..100_000).for_each(|_| frozen.push(&one));
        let mut stack = Stack::from(frozen);
        assert_eq!(stack.newest().count(), 100_000);
        stack.truncate(50_000);
        assert_eq!(stack.len(), 50_000);
    };
    let small = std::thread::Builder::new().stack_size(64 << 10);
    small.spawn(run).unwrap().join().unwrap();
}
