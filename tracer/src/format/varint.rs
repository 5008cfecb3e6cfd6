//! LEB128: the variable-length integers of events and record lengths.

/// Why bytes are not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarintError {
    /// The bytes end inside the number.
    Truncated,
    /// The number does not fit 64 bits.
    Overflow,
}

/// Appends `value` to `out`.
pub fn write(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number at `*at` and moves `*at` behind it.
///
/// # Errors
/// [`VarintError`] if the bytes end first or the number needs more than 64 bits; `*at` is then unspecified.
#[inline]
pub fn read(bytes: &[u8], at: &mut usize) -> Result<u64, VarintError> {
    let mut value = 0u64;
    let mut shift = 0;
    loop {
        let byte = *bytes.get(*at).ok_or(VarintError::Truncated)?;
        *at += 1;
        if shift == 63 && byte > 1 {
            return Err(VarintError::Overflow);
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
        shift += 7;
    }
}
