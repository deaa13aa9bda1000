// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Writes claims as a JSON object (RFC 8259).
///
/// The bytes of texts are written as they are, because a JSON encoder could normalize them. Only quotation marks,
/// backslashes and control characters are escaped (section 7).
struct ClaimsWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    init() { bytes.reserveCapacity(512) }

    /// Adds a claim with a text.
    ///
    /// - Parameters:
    ///   - name: The name of the claim, without characters to escape. Each name is added once.
    ///   - text: The text.
    mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        write(text)
    }

    /// Adds a claim with a whole number.
    ///
    /// - Parameters:
    ///   - name: The name of the claim.
    ///   - number: The number.
    mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        bytes += Array("\(number)".utf8)
    }

    /// Adds a claim with a list of texts.
    ///
    /// - Parameters:
    ///   - name: The name of the claim.
    ///   - texts: The texts.
    mutating func add(_ name: StaticString, _ texts: [String]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(text)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Returns the object with all claims.
    consuming func finish() -> [UInt8] { bytes + [UInt8(ascii: "}")] }

    private mutating func begin(_ name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        write("\(name)")
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes += Array("\\u00".utf8)
                bytes += [Hexadecimal.uppercaseDigit(of: byte >> 4), Hexadecimal.uppercaseDigit(of: byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
