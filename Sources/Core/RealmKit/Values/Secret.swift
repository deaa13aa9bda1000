// SPDX-License-Identifier: Apache-2.0

internal import LibC

/// Bytes to be kept confidential: a password, a one-time code, a key.
///
/// The bytes are in one allocation that never grows or changes. Its whole capacity is wiped when the last reference is
/// released. A secret prints as `<secret>` everywhere, cannot be encoded, and is compared only by ``isEqual(to:)``. A
/// secret is immutable, so modules can share a reference: no module can erase the password of another module. It may be
/// used from any thread.
@safe public final class Secret: Sendable {
    // The memory is written only in init and freed only in deinit, so threads only read it. Only withBytes passes the
    // pointer out, as a span that cannot outlive the call.
    private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<UInt8>
    private let capacity: Int

    /// Copies any number of bytes, including none; the caller should wipe the original.
    public init(_ bytes: some Collection<UInt8>) {
        let storage = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe storage.initialize(from: bytes)
        unsafe self.storage = storage
        capacity = storage.count
    }

    /// Copies the UTF-8 bytes of a text, which cannot be wiped, so secrets from outside should be passed as bytes.
    public convenience init(utf8 text: String) { self.init(Array(text.utf8)) }

    /// Allocates memory for at most `capacity` bytes, which the closure writes into it, so that no other copy of them exists;
    /// if it throws, those written so far are wiped.
    public init<Failure: Error>(
        capacity: Int,
        initializingWith fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let storage = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        var span = unsafe OutputSpan(buffer: storage, initializedCount: 0)
        do throws(Failure) {
            try fill(&span)
        } catch {
            if let base = storage.baseAddress { unsafe explicit_bzero(base, capacity) }
            _ = unsafe span.finalize(for: storage)
            unsafe storage.deallocate()
            throw error
        }
        let count = unsafe span.finalize(for: storage)
        unsafe self.storage = UnsafeMutableBufferPointer(start: storage.baseAddress, count: count)
        self.capacity = capacity
    }

    deinit {
        if let base = unsafe storage.baseAddress { unsafe explicit_bzero(base, capacity) }
        unsafe storage.deallocate()
    }

    /// The number of bytes.
    public var count: Int { unsafe storage.count }
    /// True if there are no bytes.
    public var isEmpty: Bool { count == 0 }

    /// True if the UTF-8 text has a control character (C0, DEL, C1).
    ///
    /// A new password cannot have one, because HTTP Basic cannot carry it (RFC 7617 section 2).
    public var hasControlCharacter: Bool {
        withBytes { bytes in
            bytes.indices.contains { index in
                let byte = bytes[index]
                return byte < 0x20 || byte == 0x7F
                    || (byte == 0xC2 && index + 1 < bytes.count && (0x80..<0xA0).contains(bytes[index + 1]))
            }
        }
    }

    /// Gives access to the bytes during a call, which must wipe every copy after use.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    /// Compares the bytes with those of another secret, in a time that depends on the length of `other` only.
    public func isEqual(to other: Secret) -> Bool {
        withBytes { mine in
            other.withBytes { theirs in
                var difference: UInt8 = mine.count == theirs.count ? 0 : 1
                for index in 0..<theirs.count {
                    difference |= theirs[index] ^ (index < mine.count ? mine[index] : 0)
                }
                return difference == 0
            }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<secret>`.
    public var description: String { "<secret>" }
    /// Always `<secret>`.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
