//! The index of blocks at the end of a file, and what it says of blocks that are not there.

use portmortem_tracer::format::{BLOCK_ALIGN, BLOCK_HEADER_BYTES, Event, FOOTER_BYTES, Footer};

use super::Script;
use super::damaged::{event_blocks, flat};
use super::files::{record, trace};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::{ReplayOptions, replay};
use crate::tables::Tables;
use crate::trace::damage::{Damage, DamageKind};

fn replayed(bytes: Vec<u8>) -> Profile {
    let profile = replay(&trace(bytes), &ReplayOptions::default());
    assert_eq!(laws::check(&profile), []);
    profile
}

/// Each has a valid header, but not that of its entry.
#[test]
fn two_exchanged_sectors_cost_both_blocks() {
    let mut bytes = flat(100_000);
    let blocks = event_blocks(&bytes);
    let events = |at: usize| blocks[at + 1].1.first_event - blocks[at].1.first_event;
    let (one, other) = (blocks[2].0, blocks[4].0);
    for at in 0..BLOCK_ALIGN {
        bytes.swap(one + at, other + at);
    }
    let profile = replayed(bytes);
    let found: Vec<_> = profile
        .damage
        .iter()
        .map(|d| (d.offset, d.what.clone()))
        .collect();
    let lost = |at: usize| (at as u64, DamageKind::LostBlock);
    assert_eq!(found, [lost(one), lost(other)]);
    assert_eq!(profile.lost_events(), events(2) + events(4));
}

/// Its footer is right, so the file was closed; its blocks are found without it.
#[test]
fn a_damaged_index_costs_nothing() {
    let whole = flat(100_000);
    let at = Footer::decode(&whole).unwrap().index_offset as usize;
    let expected = replayed(whole.clone());
    for flipped in [at + BLOCK_HEADER_BYTES + 5, at + 33] {
        let mut bytes = whole.clone();
        bytes[flipped] ^= 1;
        let profile = replayed(bytes);
        assert_eq!(profile.damage[0].what, DamageKind::Index);
        assert_eq!(profile.damage[0].offset, at as u64);
        assert_eq!(profile.streams, expected.streams);
        assert_eq!(profile.predicates, expected.predicates);
    }
}

/// The end of the last block is lost, with the index; the footer is there and is no event.
#[test]
fn a_footer_behind_half_a_block_is_no_event() {
    let whole = flat(100_000);
    let (at, _) = *event_blocks(&whole).last().unwrap();
    let half = &whole[..at + BLOCK_HEADER_BYTES + 400];
    let footer = &whole[whole.len() - FOOTER_BYTES..];
    let without = replayed(half.to_vec());
    let with = replayed([half, footer].concat());
    assert_eq!(with.streams, without.streams);
    assert_eq!(with.predicates, without.predicates);
    let is_index = |damage: &&Damage| damage.what == DamageKind::Index;
    let others: Vec<_> = with.damage.iter().filter(|one| !is_index(one)).collect();
    assert_eq!(others, without.damage.iter().collect::<Vec<_>>());
}

/// Time after a gap belongs to the unknown predicate, which was not called.
#[test]
fn what_was_not_called_has_no_costs() {
    let events = [
        (Event::Call { predicate: 0 }, 1),
        (Event::Gap { lost: 3 }, 5),
        (Event::Mark { text: 0 }, 9),
    ];
    let trace = trace(record(&Script::new(1, events.to_vec())));
    let profile = replay(&trace, &ReplayOptions::default());
    assert!(
        profile
            .predicates
            .iter()
            .any(|of| of.calls == 0 && of.self_ticks > 0)
    );
    let costs = Tables::new("x", &trace, &profile).costs();
    let costs: Vec<_> = costs
        .map(|row| (row.predicate, row.symbol, row.count))
        .collect();
    assert_eq!(costs, [(None, "V", None), (Some("p0/0"), "F", Some(1))]);
}
