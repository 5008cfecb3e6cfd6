//! Mutations of an input that are the same on every machine: for the short run, which has no libFuzzer.

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Bytes that mean something in many places: ends of ranges, long numbers.
const TELLING: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b' ', b'"', 7];

/// One of `inputs` with up to eight changes.
///
/// # Panics
/// If there is no input.
#[must_use]
pub fn mutate(random: &mut Random, inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        let length = random.below(16).min(bytes.len() - at);
        match random.below(9) {
            0 | 1 => change(&mut bytes, at, |byte| byte ^ (1 << random.below(8))),
            2 | 3 => {
                let telling = TELLING[random.below(TELLING.len())];
                change(&mut bytes, at, |_| telling);
            }
            4 => {
                let by = random.below(5) as u8;
                change(&mut bytes, at, |byte| byte.wrapping_add(by).wrapping_sub(2));
            }
            5 => drop(bytes.drain(at..at + length)),
            6 => {
                let copied = bytes[at..at + length].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copied);
            }
            7 => bytes.insert(at, random.next() as u8),
            _ => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len() + 1);
                let until = (from + random.below(64)).min(other.len());
                bytes.splice(at..at + length, other[from..until].iter().copied());
            }
        }
    }
    bytes
}

fn change(bytes: &mut [u8], at: usize, change: impl FnOnce(u8) -> u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = change(*byte);
    }
}
