//! The checksum of every token, CRC-16/MODBUS. It detects a wrong key or a mistyped digit.

const REFLECTED_POLYNOMIAL: u16 = 0xA001;

/// The checksum of `bytes` in the byte order of a token: low byte first.
pub(crate) fn checksum(bytes: &[u8]) -> [u8; 2] {
    bytes.iter().fold(u16::MAX, |crc, byte| feed(crc ^ u16::from(*byte))).to_le_bytes()
}

fn feed(crc: u16) -> u16 {
    (0..u8::BITS).fold(crc, |crc, _bit| match crc & 1 {
        1 => (crc >> 1) ^ REFLECTED_POLYNOMIAL,
        _ => crc >> 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_checksums_come_out_low_byte_first() {
        assert_eq!(checksum(&[0x00, 0x00, 0x4A, 0x2D, 0x90, 0x0F, 0xF2]), [0x0F, 0xFA]);
        assert_eq!(checksum(&[0x00, 0x0B, 0x19, 0xEB, 0x23, 0x01, 0x00]), [0xC2, 0x07]);
    }
}
