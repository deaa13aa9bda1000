// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Bytes that must not be seen: a password, a one-time code, a key.
///
/// The bytes live in one allocation that is never grown, cannot be changed and is wiped, its whole capacity, when the
/// last reference goes. A secret prints as `<secret>` everywhere, cannot be encoded and is compared only by
/// ``isEqual(to:)``. As nothing can change it, handing on the reference is as good as handing on a copy: no module can
/// blank another's password.
@safe public final class Secret: Sendable {
    // Written in init only and freed in deinit only, so sharing it between threads is sharing a constant; the pointer
    // leaves through withBytes only, whose span cannot outlive the call.
    private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<UInt8>
    private let capacity: Int

    /// Takes a copy of the bytes; wiping the original is the caller's part.
    ///
    /// - Parameter bytes: Any number of bytes, none included.
    public init(_ bytes: some Collection<UInt8>) {
        let storage = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe storage.initialize(from: bytes)
        unsafe self.storage = storage
        capacity = storage.count
    }

    /// Takes a copy of the bytes of a text, as UTF-8.
    ///
    /// A `String` cannot be wiped: prefer bytes wherever they come from the outside.
    ///
    /// - Parameter text: The text.
    public convenience init(utf8 text: String) {
        self.init(Array(text.utf8))
    }

    /// Has the bytes written where they stay, so that there is no other copy of them.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes there may be; 0 or more.
    ///   - fill: Writes the bytes.
    /// - Throws: What `fill` throws; what it has written is wiped then.
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
        if let base = unsafe storage.baseAddress {
            unsafe explicit_bzero(base, capacity)
        }
        unsafe storage.deallocate()
    }

    /// How many bytes there are.
    public var count: Int { unsafe storage.count }

    /// Whether there are no bytes at all.
    public var isEmpty: Bool { count == 0 }

    /// Lends the bytes for the time of a call.
    ///
    /// - Parameter body: Reads the bytes; it must not keep a copy that outlives its use.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    /// Whether two secrets hold the same bytes, in a time that depends on the length of `other` alone.
    ///
    /// - Parameter other: The secret to compare with, usually the one that was sent.
    /// - Returns: True if they are the same.
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
