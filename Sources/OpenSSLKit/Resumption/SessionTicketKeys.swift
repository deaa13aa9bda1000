// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The keys of session tickets: encrypted sessions that the server's clients store (RFC 5077, RFC 8446 4.6.1).
///
/// Several contexts may share one object, so that a new certificate does not end sessions; a session contains the scope
/// that it belongs to. Tickets are AES-256-CBC with HMAC-SHA-256 over it (RFC 5077 4). Keys are in memory only and
/// wiped when they are dropped. Usable from any thread; a lock is held for a few loads per handshake.
public final class SessionTicketKeys: Sendable {
    /// The bytes of a key file: 16 of name, 32 of HMAC key, 32 of AES key; nginx uses the same format.
    public static let fileSize = TicketKey.byteCount

    /// The time for which a ticket can be used, in seconds.
    public let lifetime: Int64
    /// The number of seconds after which a new key replaces the current one; nil for keys of files, which are replaced
    /// by loading other files.
    public let rotation: Int64?

    private let now: @Sendable () -> Int64
    private let keys: Mutex<[TicketKey]>

    /// Creates random keys, which no other machine knows.
    ///
    /// An old key still opens its tickets for their lifetime; a ticket that is used is replaced by one of the new key.
    ///
    /// - Parameters:
    ///   - rotation: Seconds after which a new key replaces the current one: 12 hours; at least 60.
    ///   - lifetime: Seconds for which a ticket can be used: 12 hours; at most 7 days (RFC 8446 4.6.1).
    ///   - now: The clock: seconds since 1970-01-01 00:00 UTC.
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` for times out of bounds, `libraryFailure`.
    public init(
        rotation: Int64 = 43_200,
        lifetime: Int64 = 43_200,
        now: @escaping @Sendable () -> Int64
    ) throws(OpenSSLError) {
        guard rotation >= 60 else {
            throw OpenSSLError(.invalidConfiguration, context: "ticket keys of \(rotation) seconds")
        }
        try Self.check(lifetime)
        self.rotation = rotation
        self.lifetime = lifetime
        self.now = now
        ErrorQueue.clear()
        keys = Mutex([try TicketKey(made: now())])
    }

    /// Reads keys from files, so that several machines can share them.
    ///
    /// The first key makes tickets, all keys open them; a ticket of another key than the first is replaced. To change
    /// keys, put a new file in front, load it on all machines, and drop the last file a lifetime later.
    ///
    /// - Parameters:
    ///   - files: The contents of each file: ``fileSize`` bytes. The caller wipes its own copy.
    ///   - lifetime: Seconds for which a ticket can be used: 12 hours; at most 7 days (RFC 8446 4.6.1).
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration`, as `ticket key 2`, for another length, for a key all of
    ///   whose bytes are the same, for two keys of one name, and for none.
    public init(files: [[UInt8]], lifetime: Int64 = 43_200) throws(OpenSSLError) {
        guard !files.isEmpty else { throw OpenSSLError(.invalidConfiguration, context: "no ticket key") }
        try Self.check(lifetime)
        var keys: [TicketKey] = []
        for (index, file) in files.enumerated() {
            guard file.count == Self.fileSize else {
                let context = "ticket key \(index + 1) of \(file.count) bytes, where \(Self.fileSize) are needed"
                throw OpenSSLError(.invalidConfiguration, context: context)
            }
            // With a file of zeros an attacker could forge sessions.
            guard file.contains(where: { $0 != file[0] }) else {
                throw OpenSSLError(.invalidConfiguration, context: "ticket key \(index + 1), which is not random")
            }
            let key = try TicketKey(file.span, made: 0)
            guard !keys.contains(where: key.isNamed(as:)) else {
                let context = "ticket key \(index + 1), whose first 16 bytes, the name, are those of another"
                throw OpenSSLError(.invalidConfiguration, context: context)
            }
            keys.append(key)
        }
        rotation = nil
        self.lifetime = lifetime
        now = { 0 }
        self.keys = Mutex(keys)
    }

    private static func check(_ lifetime: Int64) throws(OpenSSLError) {
        guard (1...604_800).contains(lifetime) else {
            throw OpenSSLError(.invalidConfiguration, context: "tickets of \(lifetime) seconds")
        }
    }

    /// The number of keys that can open a ticket now.
    public var count: Int {
        keys.withLock { keys in
            drop(&keys, at: now())
            return keys.count
        }
    }

    /// Returns the key that makes tickets.
    func current() throws(OpenSSLError) -> TicketKey {
        let time = now()
        return try keys.withLock { keys throws(OpenSSLError) in
            if let rotation, let newest = keys.first {
                let age = time - newest.made
                // A clock that was set back far must not keep a key for ever.
                if age >= rotation || age < -rotation { keys.insert(try TicketKey(made: time), at: 0) }
                drop(&keys, at: time)
            }
            guard let key = keys.first else { throw OpenSSLError(.libraryFailure, context: "session ticket key") }
            return key
        }
    }

    /// Returns the key of a name, and whether its tickets are to be replaced.
    func key(named name: UnsafePointer<UInt8>) -> (key: TicketKey, isOld: Bool)? {
        let time = now()
        return keys.withLock { keys in
            drop(&keys, at: time)
            guard let index = keys.firstIndex(where: { unsafe $0.isNamed(name) }) else { return nil }
            let isOld = index > 0 || rotation.map { time - keys[index].made >= $0 } ?? false
            return (keys[index], isOld)
        }
    }

    /// Drops keys whose last ticket has expired: it was made before the next key.
    private func drop(_ keys: inout [TicketKey], at time: Int64) {
        guard rotation != nil else { return }
        while keys.count > 1, time - keys[keys.count - 2].made > lifetime { keys.removeLast() }
    }
}
