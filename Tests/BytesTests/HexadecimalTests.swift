// SPDX-License-Identifier: Apache-2.0

import Bytes
import Testing

struct HexadecimalTests {
    @Test func `every byte is encoded as two digits and decoded to the same byte`() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hexadecimal.encode(bytes.span)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(text.utf8.count == 512)
        #expect(Hexadecimal.decodeLowercase(text) == bytes)
        #expect(Hexadecimal.decode(text) == bytes && Hexadecimal.decode(text.uppercased()) == bytes)
        for byte in bytes {
            let digits = [Hexadecimal.uppercaseDigit(of: byte >> 4), Hexadecimal.uppercaseDigit(of: byte & 15)]
            #expect(UInt8(String(decoding: digits, as: UTF8.self), radix: 16) == byte)
        }
    }

    @Test(arguments: ["0", "0g", "A0", "0A", "+1", " 1", "0x", "ä"])
    func `an odd number of digits, upper-case digits and other characters are rejected`(text: String) {
        #expect(Hexadecimal.decodeLowercase(text) == nil)
    }

    @Test(arguments: ["0", "0g", "G0", "+1", " 1", "0x", "ä"])
    func `digits in either case are decoded, but no odd number of them and no other characters`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
        #expect(Hexadecimal.decode("aF") == [0xAF])
    }

    @Test func `upper-case and lower-case digits have a value, other characters have no value`() {
        for byte in UInt8.min...UInt8.max {
            let isDigit = "0123456789abcdefABCDEF".utf8.contains(byte)
            let expected = isDigit ? UInt8(String(decoding: [byte], as: UTF8.self), radix: 16) : nil
            #expect(Hexadecimal.value(of: byte) == expected)
        }
    }
}
