// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The standard output and the standard error of a helper: lines for the log, escaped and bounded.
///
/// The output of a request with secrets is logged after the request, when all its secrets are known. Other output is
/// logged at the end of a line.
struct HelperOutput: ~Copyable {
    /// The maximum number of bytes that are logged for one request.
    static let maximumLogged = 4096
    /// The maximum number of bytes of one request; a helper that writes more is killed.
    static let maximumRead = 1 << 20
    private static let maximumLine = 512
    /// More than the maximum that is logged, so that a secret that begins in the logged part is found.
    private static let maximumKept = 3 * maximumLogged

    private let name: String
    private let log: RealmLog?
    private var kept: [UInt8] = []
    /// True if output was left out of `kept`.
    private var isCut = false
    private var logged = 0
    private var count = 0
    /// The number of bytes since ``begin(secret:)``.
    var total: Int { count }
    private var secrets: [Secret] = []
    /// The secrets of earlier requests, of which a helper may still write.
    private var earlier = SecretMarks()

    init(of name: String, log: RealmLog?) {
        self.name = name
        self.log = log
    }

    /// Starts to count anew.
    ///
    /// - Parameter secret: The secret of the request; lines that contain it are not logged.
    mutating func begin(secret: Secret?) {
        flush()
        (logged, count, isCut) = (0, 0, false)
        for secret in secrets { earlier.add(secret) }
        secrets = []
        if let secret { withhold(secret) }
    }

    /// Adds a secret of the request; lines that contain it are not logged.
    mutating func withhold(_ secret: Secret) {
        if !secret.isEmpty { secrets.append(secret) }
    }

    /// Adds output; returns false if the helper has written too much.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> Bool {
        count += bytes.count
        let room = Self.maximumKept - kept.count
        if bytes.count > room { isCut = true }
        kept += bytes.prefix(room)
        if secrets.isEmpty, kept.last == UInt8(ascii: "\n") { flush() }
        return count <= Self.maximumRead
    }

    private var longestSecret: Int { max(secrets.map(\.count).max() ?? 0, earlier.longest) }

    /// Logs the output that is kept, without the lines that contain a secret or a part of one.
    mutating func flush() {
        if kept.isEmpty, !isCut { return }
        let isLogged = logged <= Self.maximumLogged
        let places = isLogged ? SecretPlaces.places(of: secrets, in: kept) + earlier.places(in: kept) : []
        // A secret at the end may be cut, and is then not found.
        let limit = isCut ? max(0, kept.count - longestSecret) : kept.count
        var start = 0
        while start < kept.count, logged <= Self.maximumLogged {
            let end = kept[start...].firstIndex(of: UInt8(ascii: "\n")) ?? kept.count
            if end > start {
                let shown = min(end, start + Self.maximumLine)
                logged += shown - start + 1
                if shown > limit { logged = Self.maximumLogged + 1 }
                if logged > Self.maximumLogged {
                    log?("\(name): the rest of its output is not logged")
                } else if places.contains(where: { $0.overlaps(start..<end) }) {
                    log?("\(name): (a line with the secret of the login is not logged)")
                } else {
                    log?("\(name): \(HelperText.escaped(kept[start..<shown]))")
                }
            }
            start = end + 1
        }
        if isCut, logged <= Self.maximumLogged {
            logged = Self.maximumLogged + 1
            log?("\(name): the rest of its output is not logged")
        }
        for index in kept.indices { kept[index] = 0 }
        kept.removeAll(keepingCapacity: true)
    }
}
