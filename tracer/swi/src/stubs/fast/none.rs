//! In place of fast code on processors that it is not written for.

use super::{Callee, Departs, Setting};

pub(in super::super) fn returned(_: &Setting) -> Option<Vec<u8>> {
    None
}

pub(in super::super) fn resumed(_: &Setting) -> Option<Vec<u8>> {
    None
}

pub(in super::super) fn cut_behind(_: &Setting) -> Option<Vec<u8>> {
    None
}

pub(in super::super) fn entered(_: &Setting) -> Option<Vec<u8>> {
    None
}

pub(in super::super) fn call(_: &Setting, _: Callee, _: Departs) -> Option<Vec<u8>> {
    None
}
