// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648) with one alphabet; exactly one text is valid for each sequence of bytes.
///
/// Text that another decoder might read differently is rejected: characters outside the alphabet, padding that does not
/// match the length, and pad bits that are not zero (RFC 4648 section 3.5).
package struct Base64: Sendable {
    /// The standard alphabet with padding (RFC 4648 section 4).
    package static let padded = Base64(plus: UInt8(ascii: "+"), slash: UInt8(ascii: "/"), isPadded: true)
    /// The standard alphabet without padding, as in PHC strings.
    package static let unpadded = Base64(plus: UInt8(ascii: "+"), slash: UInt8(ascii: "/"), isPadded: false)
    /// The alphabet for URLs and file names, without padding (RFC 4648 section 5).
    package static let url = Base64(plus: UInt8(ascii: "-"), slash: UInt8(ascii: "_"), isPadded: false)
    /// The alphabet `ab64` of passlib: a dot instead of the plus sign, without padding.
    package static let dotted = Base64(plus: UInt8(ascii: "."), slash: UInt8(ascii: "/"), isPadded: false)

    private let plus: UInt8
    private let slash: UInt8
    private let isPadded: Bool

    /// Returns the length of the text for a number of bytes.
    package func length(ofBytes count: Int) -> Int { isPadded ? (count + 2) / 3 * 4 : (count * 8 + 5) / 6 }

    /// Returns the largest number of bytes that a text of a length can encode.
    package static func maximumByteCount(ofLength length: Int) -> Int { length * 3 / 4 }

    // MARK: Decoding

    /// Appends the bytes of a text, without another copy; false if the text is not valid or its bytes do not fit.
    ///
    /// If false, the appended bytes must not be used.
    package func decode(_ text: Span<UInt8>, into bytes: inout OutputSpan<UInt8>) -> Bool {
        var length = text.count
        if isPadded {
            guard length % 4 == 0 else { return false }
            while length > max(0, text.count - 2), text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        }
        guard length % 4 != 1, Self.maximumByteCount(ofLength: length) <= bytes.freeCapacity else { return false }
        var group: UInt32 = 0
        for index in 0..<length {
            guard let value = value(of: text[index]) else { return false }
            group = group << 6 | UInt32(value)
            guard index % 4 == 3 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            group = 0
        }
        switch length % 4 {
        case 2:
            guard group & 0xF == 0 else { return false }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3:
            guard group & 0x3 == 0 else { return false }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        case _: break
        }
        return true
    }

    /// Overwrites memory of the caller with the bytes of a text, without an allocation.
    ///
    /// The result is true if the text is valid and its bytes fill the memory exactly.
    package func decode(_ text: Span<UInt8>, filling bytes: inout MutableSpan<UInt8>) -> Bool {
        guard text.count == length(ofBytes: bytes.count) else { return false }
        return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            let isValid = decode(text, into: &output)
            return unsafe output.finalize(for: buffer) == buffer.count && isValid
        }
    }

    /// Decodes a text that is not a secret, because the bytes are not wiped; nil if it is not valid.
    package func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var isValid = false
        let capacity = Self.maximumByteCount(ofLength: text.count)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            isValid = decode(text, into: &output)
            unsafe count = output.finalize(for: buffer)
        }
        return isValid ? bytes : nil
    }

    /// Decodes a text that is not a secret, because the bytes are not wiped; nil if it is not valid.
    package func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8).span) }

    // MARK: Encoding

    package func encode(_ bytes: Span<UInt8>) -> String {
        unsafe String(unsafeUninitializedCapacity: length(ofBytes: bytes.count)) { buffer in
            unsafe buffer.initialize(repeating: 0)
            var text = unsafe buffer.mutableSpan
            encode(bytes, into: &text)
            return text.count
        }
    }

    /// Encodes bytes into memory of the caller, which can wipe it, and whose length must be ``length(ofBytes:)``.
    package func encode(_ bytes: Span<UInt8>, into text: inout MutableSpan<UInt8>) {
        var (bits, count, position): (UInt32, UInt32, Int) = (0, 0, 0)
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            count += 8
            while count >= 6 {
                count -= 6
                text[position] = character(of: UInt8(truncatingIfNeeded: bits >> count & 63))
                position += 1
            }
        }
        if count > 0 {
            text[position] = character(of: UInt8(truncatingIfNeeded: bits << (6 - count) & 63))
            position += 1
        }
        while position < text.count {
            text[position] = UInt8(ascii: "=")
            position += 1
        }
    }

    // MARK: Characters

    private func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case plus: 62
        case slash: 63
        case _: nil
        }
    }

    private func character(of value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: plus
        case _: slash
        }
    }
}
