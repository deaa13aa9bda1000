// SPDX-License-Identifier: Apache-2.0

import Bytes
import Testing

struct PercentEncodingTests {
    @Test func `all characters except unreserved characters and the kept character are encoded`() {
        #expect(PercentEncoding.encode("/a-Z_0.9~") == "/a-Z_0.9~")
        #expect(PercentEncoding.encode("/a b?ä%+@\0") == "/a%20b%3F%C3%A4%25%2B%40%00")
        #expect(PercentEncoding.encode("a/b@c", keeping: "@") == "a%2Fb@c")
    }

    @Test func `bytes for which the closure returns false are encoded`() {
        #expect(PercentEncoding.encode(([0x61, 0xFF, 0x62] as [UInt8]).span) { $0 < 0x62 } == "a%FF%62")
    }

    @Test func `a percent sign and two digits, in upper or lower case, are decoded to a byte`() {
        let text = Array("a%4a%4A%zz%4".utf8)
        let found = text.indices.filter { text[$0] == UInt8(ascii: "%") }.map {
            PercentEncoding.decode(text.span, at: $0)
        }
        #expect(found == [0x4A, 0x4A, nil, nil])
    }
}
