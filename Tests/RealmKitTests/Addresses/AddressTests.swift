// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import RealmKit

struct AddressTests {
    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::FFFF:C000:0207", "192.0.2.7"),
        ("2001:db8::1", "2001:db8:0:0::/64"), ("2001:DB8:0:0:1:2:3:4", "2001:db8:0:0::/64"),
        ("2001:db8:0:0::/64", "2001:db8:0:0::/64"), ("fe80::1%eth0", "fe80:0:0:0::/64"), ("::", "0:0:0:0::/64"),
        ("64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"), ("::1.2.3.4.5", "::1.2.3.4.5"), ("01.2.3.4", "01.2.3.4"),
        ("1.2.3", "1.2.3"), ("1.2.3.256", "1.2.3.256"), ("1:2:3:4:5:6:7", "1:2:3:4:5:6:7"),
        ("1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:"), ("1::2::3", "1::2::3"), (":1:2", ":1:2"), ("12345::", "12345::"),
        ("+1::", "+1::"), ("", ""), ("unix", "unix"), ("1:2:3:4:5:6:7::", "1:2:3:4::/64"),
        ("1:2:3:4:5:6:7:8::", "1:2:3:4:5:6:7:8:"), ("-0::", "-0::"), ("192.0.2.7::", "192.0.2.7::"),
        ("192.0.2.7\0", "192.0.2.7\0"),
    ])
    func `addresses are normalized to an IPv4 address or an IPv6 network, and other text is unchanged`(
        text: String,
        source: String
    ) {
        #expect(ClientNetwork(text).description == source)
        #expect(ClientNetwork(ClientNetwork(text).description) == ClientNetwork(text))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "203.0.113.1", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::/0", "::1", true),
        ("::1", "::1", true), ("192.0.2.4/30", "192.0.2.7", true), ("192.0.2.4/30", "192.0.2.8", false),
        ("10.0.0.0/8", "::ffff:10.1.1.1", true),
    ])
    func `a CIDR block contains the addresses with its prefix`(block: String, address: String, isContained: Bool) throws
    {
        let address = try #require(NetworkAddress(address[...]))
        #expect(try CIDRBlock(block).contains(address) == isContained)
    }

    @Test(arguments: [
        ("10.0.0.1/8", "takes the first address of a block; 10.0.0.1 is not the first address of 10.0.0.1/8"),
        ("10.0.0.0/33", "takes a prefix length from 0 to 32 after the /, not 33"),
        ("10.0.0.0/", "takes a prefix length from 0 to 32 after the /, not "),
        ("::/+1", "takes a prefix length from 0 to 128 after the /, not +1"),
        ("host", "takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not host"),
        ("fe80::1%eth0", "takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not fe80::1%eth0"),
        ("", "takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not "),
    ])
    func `an invalid CIDR block is refused`(text: String, reason: String) {
        #expect(throws: BadValue(reason)) { try CIDRBlock(text) }
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("::FFFF:C000:0207", "192.0.2.7"), ("::", "::"), ("0:0::1", "::1"), ("1::0", "1::"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("fe80::1%eth0", "fe80::1"), ("1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"),
    ])
    func `all spellings of an address have the same description`(text: String, written: String) throws {
        let address = try #require(NetworkAddress(text[...]))
        #expect(address.description == written)
        #expect(NetworkAddress(written[...]) == address)
    }

    @Test func `the description of any address is parsed as the same address`() {
        var random = Random(seed: 6)
        for _ in 0..<2000 {
            let groups = (0..<8).map { _ in random.below(2) == 0 ? 0 : UInt16(truncatingIfNeeded: random.next()) }
            let address = NetworkAddress(bits: groups.reduce(0) { $0 << 16 | UInt128($1) })
            #expect(NetworkAddress(address.description[...]) == address)
            #expect(NetworkAddress(address.version6Text[...]) == address)
        }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("127.0.0.1/32", "127.0.0.1"), ("0.0.0.0/0", "0.0.0.0/0"), ("::/0", "::/0"),
        ("2001:DB8::/32", "2001:db8::/32"), ("::1", "::1"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ])
    func `all spellings of a CIDR block have the same description, which is parsed as the same block`(
        text: String,
        written: String
    ) throws {
        let block = try CIDRBlock(text)
        #expect(block.description == written)
        #expect(try CIDRBlock(written) == block)
    }

    @Test(arguments: [
        ("0.0.0.0/0", true), ("0.0.0.0/1", true), ("128.0.0.0/1", true), ("10.0.0.0/8", false), ("10.0.0.0/7", true),
        ("::/0", true), ("::/8", true), ("::ffff:0:0/96", true), ("2000::/3", true), ("fc00::/7", false),
        ("2001:db8::/32", false), ("127.0.0.1", false), ("::1", false),
    ])
    func `blocks that are larger than each private network are known`(text: String, isLarger: Bool) throws {
        #expect(try CIDRBlock(text).isLargerThanPrivateNetworks == isLarger)
    }

    @Test func `a set of blocks contains the addresses that one of its blocks contains`() throws {
        var random = Random(seed: 11)
        func address() -> String {
            random.below(2) == 0
                ? "10.\(random.below(4)).\(random.below(4)).\(random.below(4))"
                : "2001:db8:\(random.below(4))::\(random.below(4))"
        }
        var found = 0
        for _ in 0..<2000 {
            var blocks: [CIDRBlock] = []
            for _ in 0..<random.below(30) {
                let text = address()
                let maximum = text.contains(":") ? 128 : 32
                // Only the first address of a block is accepted, so most of these lengths are refused.
                for length in [random.below(maximum + 1), maximum - random.below(3), maximum] {
                    do { blocks.append(try CIDRBlock("\(text)/\(length)")) } catch {}
                }
            }
            if random.below(20) == 0 { blocks.append(try CIDRBlock(random.pick(["0.0.0.0/0", "::/0"]))) }
            let set = CIDRSet(blocks)
            #expect(set.isEmpty == blocks.isEmpty)
            for _ in 0..<20 {
                let text = random.pick([address(), address(), "::", "::1", "255.255.255.255", "ffff::"])
                let address = try #require(NetworkAddress(text[...]))
                let expected = blocks.contains { $0.contains(address) }
                #expect(set.contains(address) == expected, "\(text) in \(blocks)")
                if expected { found += 1 }
            }
        }
        #expect((2_000..<38_000).contains(found))
    }
}
