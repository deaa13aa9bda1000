// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A prepared key of HMAC-SHA-256 (RFC 2104), which can be used from any thread.
///
/// The key's bytes are not kept, only the state of SHA-256 after the key. The state is wiped when the object is
/// released. The type has no description, so the key cannot get into a log.
@safe
public final class HMACKey: @unchecked Sendable {
    // Unchecked because of the pointer. The memory is written in init, wiped in deinit, and otherwise only copied.
    private let schedule: UnsafeMutablePointer<gatehouse_HMAC_SHA256>

    /// Prepares a key of 16 bytes or more; the caller must wipe its own copy.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for a shorter key, or with code `libraryFailure` if
    ///   OpenSSL fails.
    public init(_ key: Span<UInt8>) throws(OpenSSLError) {
        guard key.count >= 16 else { throw .invalid("HMAC key of \(key.count) bytes (at least 16)") }
        // RFC 2104 section 2: a key longer than a block is replaced by its hash.
        var short = key.count > 64 ? try Digest.sha256(key).bytes : unsafe key.withUnsafeBufferPointer(Array.init)
        defer { for index in short.indices { short[index] = 0 } }
        unsafe schedule = .allocate(capacity: 1)
        let made = unsafe gatehouse_HMAC_SHA256_init(schedule, short, short.count)
        guard made == 1 else { throw .failed("HMAC") }
    }

    deinit {
        unsafe OPENSSL_cleanse(schedule, MemoryLayout<gatehouse_HMAC_SHA256>.size)
        unsafe schedule.deallocate()
    }

    /// A message whose tag is computed.
    @safe
    public struct Message: ~Copyable {
        fileprivate var state: gatehouse_HMAC_SHA256
        fileprivate var isGood = true

        /// Adds bytes to the message.
        public mutating func append(_ bytes: Span<UInt8>) {
            let done = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe gatehouse_HMAC_SHA256_update(&state, bytes.baseAddress, bytes.count)
            }
            if done != 1 { isGood = false }
        }

        /// Adds the length of a field, then its bytes.
        ///
        /// With the lengths, different lists of fields never have the same bytes (CVE-2026-71326).
        public mutating func append(field bytes: Span<UInt8>) {
            append(UInt64(bytes.count))
            append(bytes)
        }

        /// Adds a number to the message: 8 bytes, the least significant first.
        public mutating func append(_ number: UInt64) {
            var number = number.littleEndian
            if unsafe gatehouse_HMAC_SHA256_update(&state, &number, 8) != 1 { isGood = false }
        }
    }

    /// Computes the tag of a message.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func tag(_ message: Span<UInt8>) throws(OpenSSLError) -> Digest { try tag { $0.append(message) } }

    /// Computes the tag of a message of several pieces, which are not copied.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func tag(of fill: (inout Message) -> Void) throws(OpenSSLError) -> Digest {
        var message = unsafe Message(state: schedule.pointee)
        fill(&message)
        let isGood = message.isGood
        return try unsafe Digest { output throws(OpenSSLError) in
            guard unsafe gatehouse_HMAC_SHA256_final(&message.state, output) == 1, isGood else { throw .failed("HMAC") }
        }
    }
}

/// Random bytes for keys, from OpenSSL's generator (RAND_bytes(3)).
public enum RandomBytes {
    /// Makes `count` random bytes.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if the generator has no entropy. No other generator is
    ///   used.
    public static func make(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        guard let length = Int32(exactly: count), length >= 0 else { throw .invalid("\(count) random bytes") }
        var bytes = [UInt8](repeating: 0, count: count)
        ErrorQueue.clear()
        guard unsafe RAND_bytes(&bytes, length) == 1 else { throw .failed("random bytes") }
        return bytes
    }
}

/// Returns whether two byte strings are equal, in a time that depends only on their lengths.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}

/// Returns whether two byte strings are equal, in a time that depends only on their lengths.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.span, right.span) }
