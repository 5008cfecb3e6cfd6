//! Boxes as bytes.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::{ArenaBox, Boxes, NONE, PhysicalBox};

impl Encode for Boxes {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.boxes.encode(encoder)?;
        self.free.encode(encoder)
    }
}

impl<Context> Decode<Context> for Boxes {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Self {
            boxes: Vec::<PhysicalBox>::decode(decoder)?,
            free: ArenaBox::decode(decoder)?,
            spare: Vec::new(),
        })
    }
}

bincode::impl_borrow_decode!(Boxes);

impl Boxes {
    /// Whether every box leads to one that is there, and every walk ends.
    pub(in crate::replay) fn are_sound(&self) -> bool {
        let many = self.boxes.len();
        let links = self.boxes.iter().map(|boxed| boxed.parent);
        let are_there = links
            .chain([self.free])
            .all(|to| to == NONE || (to as usize) < many);
        // By box: the walk that came there, counted from 1.
        let mut seen = vec![0; many];
        are_there
            && (0..many).all(|start| {
                let walk = start + 1;
                let mut at = start;
                loop {
                    match seen[at] {
                        0 => seen[at] = walk,
                        other => return other != walk,
                    }
                    match self.boxes[at].parent {
                        NONE => return true,
                        parent => at = parent as usize,
                    }
                }
            })
    }

    /// Those that will be used again.
    pub(in crate::replay) fn free(&self) -> Vec<bool> {
        let mut free = vec![false; self.boxes.len()];
        let mut next = self.free;
        while next != NONE {
            free[next as usize] = true;
            next = self.boxes[next as usize].parent;
        }
        free
    }
}
