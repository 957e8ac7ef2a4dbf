//! The MISTY1 block cipher of RFC 2994. It is encryption algorithm EA11. No public crate implements it.

mod tables;

use core::fmt;

use zeroize::Zeroize;

use tables::{S7, S9};

/// MISTY1 (RFC 2994): eight rounds, blocks of 64 bits, keys of 128 bits.
///
/// ```
/// use sts::Misty1;
///
/// let cipher = Misty1::new(&0x00112233445566778899aabbccddeeff_u128.to_be_bytes());
/// let block = 0x0123456789abcdef_u64.to_be_bytes();
/// assert_eq!(cipher.encrypt(block), 0x8b1da5f56ab3d07c_u64.to_be_bytes());
/// assert_eq!(cipher.decrypt(cipher.encrypt(block)), block);
/// ```
pub struct Misty1 {
    given: [u16; 8],
    derived: [u16; 8],
}

impl Misty1 {
    /// Expands a key.
    pub fn new(key: &[u8; 16]) -> Self {
        let mut given = [0; 8];
        for (word, pair) in given.iter_mut().zip(key.chunks_exact(2)) {
            *word = pair.iter().fold(0, |word, byte| (word << 8) | u16::from(*byte));
        }
        let mut cipher = Self { given, derived: [0; 8] };
        let derived: [u16; 8] = core::array::from_fn(|i| mix(cipher.given(i), cipher.given(i + 1)));
        cipher.derived = derived;
        cipher
    }

    /// Encrypts one block.
    pub fn encrypt(&self, block: [u8; 8]) -> [u8; 8] {
        let (mut left, mut right) = halves(block);
        for round in [0, 2, 4, 6] {
            left = self.layer(left, round);
            right = self.layer(right, round + 1);
            right ^= self.round(left, round);
            left ^= self.round(right, round + 1);
        }
        joined(self.layer(right, 9), self.layer(left, 8))
    }

    /// Decrypts one block.
    pub fn decrypt(&self, block: [u8; 8]) -> [u8; 8] {
        let (right, left) = halves(block);
        let (mut left, mut right) = (self.unlayer(left, 8), self.unlayer(right, 9));
        for round in [6, 4, 2, 0] {
            left ^= self.round(right, round + 1);
            right ^= self.round(left, round);
            left = self.unlayer(left, round);
            right = self.unlayer(right, round + 1);
        }
        joined(left, right)
    }

    /// The function that RFC 2994 calls FO.
    fn round(&self, input: u32, k: usize) -> u32 {
        let (mut first, mut second) = words(input);
        first = mix(first ^ self.given(k), self.derived(k + 5)) ^ second;
        second = mix(second ^ self.given(k + 2), self.derived(k + 1)) ^ first;
        first = mix(first ^ self.given(k + 7), self.derived(k + 3)) ^ second;
        second ^= self.given(k + 4);
        doubleword(second, first)
    }

    /// The function that RFC 2994 calls FL.
    fn layer(&self, input: u32, k: usize) -> u32 {
        let (and, or) = self.layer_keys(k);
        let (mut first, mut second) = words(input);
        second ^= first & and;
        first ^= second | or;
        doubleword(first, second)
    }

    /// The inverse of [`Self::layer`].
    fn unlayer(&self, input: u32, k: usize) -> u32 {
        let (and, or) = self.layer_keys(k);
        let (mut first, mut second) = words(input);
        first ^= second | or;
        second ^= first & and;
        doubleword(first, second)
    }

    fn layer_keys(&self, k: usize) -> (u16, u16) {
        let half = k / 2;
        match k % 2 {
            0 => (self.given(half), self.derived(half + 6)),
            _ => (self.derived(half + 2), self.given(half + 4)),
        }
    }

    fn given(&self, i: usize) -> u16 {
        *self.given.get(i % 8).expect("a remainder modulo eight is an index into eight words")
    }

    fn derived(&self, i: usize) -> u16 {
        *self.derived.get(i % 8).expect("a remainder modulo eight is an index into eight words")
    }
}

impl fmt::Debug for Misty1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Misty1(redacted)")
    }
}

impl Drop for Misty1 {
    fn drop(&mut self) {
        self.given.zeroize();
        self.derived.zeroize();
    }
}

/// The function that RFC 2994 calls FI.
fn mix(input: u16, key: u16) -> u16 {
    let (nine, seven) = (input >> 7, input & 0x7F);
    let nine = substitute_nine(nine) ^ seven;
    let seven = substitute_seven(seven) ^ (nine & 0x7F) ^ (key >> 9);
    let nine = substitute_nine(nine ^ (key & 0x1FF)) ^ seven;
    (seven << 9) | nine
}

fn substitute_seven(input: u16) -> u16 {
    u16::from(*S7.get(usize::from(input)).expect("seven bits index 128 entries"))
}

fn substitute_nine(input: u16) -> u16 {
    *S9.get(usize::from(input)).expect("nine bits index 512 entries")
}

fn halves(block: [u8; 8]) -> (u32, u32) {
    let [h0, h1, h2, h3, l0, l1, l2, l3] = block;
    (u32::from_be_bytes([h0, h1, h2, h3]), u32::from_be_bytes([l0, l1, l2, l3]))
}

fn joined(high: u32, low: u32) -> [u8; 8] {
    ((u64::from(high) << 32) | u64::from(low)).to_be_bytes()
}

fn words(input: u32) -> (u16, u16) {
    let [h0, h1, l0, l1] = input.to_be_bytes();
    (u16::from_be_bytes([h0, h1]), u16::from_be_bytes([l0, l1]))
}

fn doubleword(high: u16, low: u16) -> u32 {
    (u32::from(high) << 16) | u32::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;

    #[test]
    fn the_blocks_of_rfc_2994_encrypt_and_decrypt() {
        let cipher = Misty1::new(&KEY.to_be_bytes());
        for (plain, secret) in [
            (0x0123_4567_89ab_cdef_u64, 0x8b1d_a5f5_6ab3_d07c_u64),
            (0xfedc_ba98_7654_3210, 0x04b6_8240_b13b_e95d),
        ] {
            assert_eq!(cipher.encrypt(plain.to_be_bytes()), secret.to_be_bytes());
            assert_eq!(cipher.decrypt(secret.to_be_bytes()), plain.to_be_bytes());
        }
    }

    #[test]
    fn a_key_never_reaches_debug_output() {
        assert_eq!(format!("{:?}", Misty1::new(&KEY.to_be_bytes())), "Misty1(redacted)");
    }
}
