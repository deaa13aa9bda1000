// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What a helper writes to its standard output and its standard error: lines for the log, escaped and bounded.
struct HelperOutput: ~Copyable {
    /// The maximum number of bytes that are logged for one request.
    static let maximumLogged = 4096
    /// The maximum number of bytes of one request; a helper that writes more is killed.
    static let maximumRead = 1 << 20
    private static let maximumLine = 512

    private let name: String
    private let log: RealmLog?
    private var line: [UInt8] = []
    private var logged = 0
    private var count = 0
    /// The number of bytes since ``begin(secret:)``.
    var total: Int { count }
    private var secret: Secret?

    init(of name: String, log: RealmLog?) {
        self.name = name
        self.log = log
    }

    /// Starts to count anew.
    ///
    /// - Parameter secret: The secret of the request; lines that contain it are not logged.
    mutating func begin(secret: Secret?) {
        flush()
        (logged, count) = (0, 0)
        self.secret = secret
    }

    /// Adds output; returns false if the helper has written too much.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> Bool {
        count += bytes.count
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                flush()
            } else if line.count < Self.maximumLine + (secret?.count ?? 0) {
                // Long enough to find a secret that begins before the limit.
                line.append(byte)
            }
        }
        return count <= Self.maximumRead
    }

    /// Logs the last line.
    mutating func flush() {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty, logged <= Self.maximumLogged else { return }
        logged += line.count + 1
        guard logged <= Self.maximumLogged else {
            log?("\(name): the rest of its output is not logged")
            return
        }
        let text =
            containsSecret
            ? "(a line with the secret of the login is not logged)" : HelperText.escaped(line.prefix(Self.maximumLine))
        log?("\(name): \(text)")
    }

    private var containsSecret: Bool {
        guard let secret, secret.count >= 4 else { return false }
        return secret.withBytes { wanted in
            guard line.count >= wanted.count else { return false }
            for start in 0...(line.count - wanted.count) {
                var isEqual = true
                for index in wanted.indices where line[start + index] != wanted[index] {
                    isEqual = false
                    break
                }
                if isEqual { return true }
            }
            return false
        }
    }
}
