//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// The blocks of IPv4 that are not public, or lead into the sender's own network: the IANA registry of special-purpose addresses
/// (RFC 6890 and its updates), multicast, and the address of a cloud's own machine services.
const NOT_PUBLIC: [Ipv4Net; 19] = [
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    // Shared between a carrier and its customers (RFC 6598). One cloud has its metadata there, too.
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    // Link-local. The metadata of most clouds is at 169.254.169.254.
    v4([169, 254, 0, 0], 16),
    // Azure's machine services, at a public address that only a machine there reaches.
    v4([168, 63, 129, 16], 32),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 31, 196, 0], 24),
    v4([192, 52, 193, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([192, 175, 48, 0], 24),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// The only block of IPv6 from which public addresses are assigned (RFC 4291). Everything else is refused with it: loopback,
/// unique local (with the metadata of one cloud), link-local, multicast, addresses mapped from IPv4, and NAT64.
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0], 3);

/// The blocks inside it that are not public, or have an IPv4 address inside.
const NOT_PUBLIC_V6: [Ipv6Net; 5] = [
    // Special protocols: Teredo, benchmarks, ORCHID.
    v6([0x2001, 0, 0], 23),
    v6([0x2001, 0x0db8, 0], 32),
    // 6to4, with any IPv4 address inside.
    v6([0x2002, 0, 0], 16),
    v6([0x2620, 0x004f, 0x8000], 48),
    v6([0x3fff, 0, 0], 20),
];

/// Whether an address belongs to the public internet, so that a request to it cannot reach a machine that is only reachable from
/// the sender. An IPv6 address that stands for an IPv4 address never does.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => NOT_PUBLIC.iter().all(|block| !block.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_UNICAST.contains(&address) && NOT_PUBLIC_V6.iter().all(|block| !block.contains(&address))
        }
    }
}

const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6([a, b, c]: [u16; 3], bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last address of each block, and the public addresses beside it.
    const REFUSED: &str = "
        0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255
        169.254.0.0 169.254.169.254 169.254.255.255 168.63.129.16 100.100.100.200 172.16.0.0 172.31.255.255
        192.0.0.0 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1
        198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255
        :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::808:808 64:ff9b::a00:1 64:ff9b:1::1 100::1 5f00::1
        2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1
        2620:4f:8000::1 3fff::1 4000::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1";

    const ACCEPTED: &str = "
        1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
        169.255.0.0 168.63.129.15 168.63.129.17 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255
        198.20.0.0 203.0.112.255 223.255.255.255 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 3ffe::1";

    fn wrong(addresses: &str, expected: bool) -> Vec<&str> {
        addresses.split_whitespace().filter(|text| is_public(text.parse().unwrap()) != expected).collect()
    }

    #[test]
    fn private_special_and_embedded_addresses_are_not_public() {
        assert_eq!(wrong(REFUSED, false), [""; 0]);
    }

    #[test]
    fn the_addresses_beside_them_are_public() {
        assert_eq!(wrong(ACCEPTED, true), [""; 0]);
    }

    #[test]
    fn no_address_that_stands_for_a_private_one_is_public() {
        let private = REFUSED.split_whitespace().filter_map(|text| text.parse::<Ipv4Addr>().ok());
        for address in private {
            let [a, b, c, d] = address.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let forms = [
                address.to_ipv6_mapped(),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ];
            for form in forms {
                assert!(!is_public(IpAddr::V6(form)), "{form}");
            }
        }
    }
}
