// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL
internal import Synchronization

/// The keys under which a server gives its sessions to its clients for safe keeping (RFC 5077, RFC 8446 4.6.1).
///
/// One object may serve many contexts, so that a new certificate does not end sessions; which context a session belongs
/// to is written in the session. Tickets are AES-256-CBC with HMAC-SHA-256 over it (RFC 5077 4). Keys are in memory
/// only and wiped when they are dropped. Usable from any thread; a lock is held for a few loads per handshake.
public final class SessionTicketKeys: Sendable {
    /// The bytes of a key file: 16 of name, 32 of HMAC key, 32 of AES key; what nginx takes too.
    public static let fileSize = TicketKey.byteCount

    /// How long a ticket can be used after it was made, in seconds.
    public let lifetime: Int64
    /// After how many seconds a new key takes over; nil for keys of files, which are replaced by loading others.
    public let rotation: Int64?

    private let now: @Sendable () -> Int64
    private let keys: Mutex<[TicketKey]>

    /// Makes keys of its own, which no other machine knows.
    ///
    /// An old key still opens its tickets for their life time, and those are replaced then by tickets of the new key.
    ///
    /// - Parameters:
    ///   - rotation: Seconds after which a new key takes over: 12 hours; 60 at least.
    ///   - lifetime: Seconds for which a ticket can be used: 12 hours; 7 days at most (RFC 8446 4.6.1).
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

    /// Takes keys out of files, so that several machines know them.
    ///
    /// The first makes tickets, all open them; a ticket of another than the first is replaced. To change keys, put a new file in
    /// front, load it everywhere, and drop the last one a life time later.
    ///
    /// - Parameters:
    ///   - files: What each file holds: ``fileSize`` bytes. The caller wipes its own copy.
    ///   - lifetime: Seconds for which a ticket can be used: 12 hours; 7 days at most (RFC 8446 4.6.1).
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
            // A file of zeros is a mistake that would let anybody make sessions.
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

    /// How many keys can open a ticket at this moment.
    public var count: Int {
        keys.withLock { keys in
            drop(&keys, at: now())
            return keys.count
        }
    }

    /// The key to make tickets with.
    func current() throws(OpenSSLError) -> TicketKey {
        let time = now()
        return try keys.withLock { keys throws(OpenSSLError) in
            if let rotation, let newest = keys.first {
                let age = time - newest.made
                // A clock that was set back by more than it is off must not keep a key for ever.
                if age >= rotation || age < -rotation { keys.insert(try TicketKey(made: time), at: 0) }
                drop(&keys, at: time)
            }
            guard let key = keys.first else { throw OpenSSLError(.libraryFailure, context: "session ticket key") }
            return key
        }
    }

    /// The key of a name, and whether tickets of it are to be replaced.
    func key(named name: UnsafePointer<UInt8>) -> (key: TicketKey, isOld: Bool)? {
        let time = now()
        return keys.withLock { keys in
            drop(&keys, at: time)
            guard let index = keys.firstIndex(where: { unsafe $0.isNamed(name) }) else { return nil }
            let isOld = index > 0 || rotation.map { time - keys[index].made >= $0 } ?? false
            return (keys[index], isOld)
        }
    }

    /// Drops keys whose last ticket has run out: its life began at the latest when the next key was made.
    private func drop(_ keys: inout [TicketKey], at time: Int64) {
        guard rotation != nil else { return }
        while keys.count > 1, time - keys[keys.count - 2].made > lifetime { keys.removeLast() }
    }
}

/// Called by OpenSSL to make (1) or open (0) a ticket; answers 1, 2 for "and replace it", 0 for a ticket of no known key.
func ticketKeyCallback(
    ssl: OpaquePointer?,
    name: UnsafeMutablePointer<UInt8>?,
    vector: UnsafeMutablePointer<UInt8>?,
    cipher: OpaquePointer?,
    mac: OpaquePointer?,
    encrypting: Int32
) -> Int32 {
    guard let name = unsafe name, let vector = unsafe vector, let cipher = unsafe cipher, let mac = unsafe mac,
        let keys = unsafe CallbackData.of(SSL_get_SSL_CTX(ssl))?.ticketKeys
    else { return -1 }
    guard encrypting == 1 else {
        guard let (key, isOld) = unsafe keys.key(named: name) else { return 0 }
        guard unsafe key.decrypt(vector: vector, cipher: cipher, mac: mac) else { return -1 }
        // In TLS 1.3 a ticket is for one use (RFC 8446 C.4), so each use brings the next.
        return isOld || (unsafe SSL_version(ssl)) == TLS1_3_VERSION ? 2 : 1
    }
    do throws(OpenSSLError) {
        return unsafe try keys.current().encrypt(name: name, vector: vector, cipher: cipher, mac: mac) ? 1 : -1
    } catch {
        return -1
    }
}
