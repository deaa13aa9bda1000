// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit

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
    /// More than a secret after the part that is logged, so that one that begins in this part is found.
    private static let maximumKept = 3 * maximumLogged

    private let name: String
    private let log: RealmLog?
    private var kept: [UInt8] = []
    /// True if output was left out of `kept`.
    private var isCut = false
    /// The number of bytes that were logged, with what was left out of their lines.
    private var logged = 0
    private var isRestLeftOut = false
    /// The number of bytes since ``begin(secrets:)``.
    private(set) var total = 0
    private var secrets: [Secret] = []
    /// The secrets of earlier requests, of which a helper may still write.
    private var earlier = SecretMarks()

    init(of name: String, log: RealmLog?) {
        self.name = name
        self.log = log
    }

    /// Starts to count anew; lines that contain a secret of the request are not logged.
    mutating func begin(secrets: [Secret] = []) {
        flush()
        (logged, total, isCut, isRestLeftOut) = (0, 0, false, false)
        for secret in self.secrets { earlier.add(secret) }
        self.secrets = secrets.filter { !$0.isEmpty }
    }

    /// Adds a secret of the request; lines that contain it are not logged.
    mutating func withhold(_ secret: Secret) {
        if !secret.isEmpty { secrets.append(secret) }
    }

    /// Adds output; returns false if the helper has written too much.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> Bool {
        total += bytes.count
        let room = Self.maximumKept - kept.count
        if bytes.count > room { isCut = true }
        kept += bytes.prefix(room)
        if secrets.isEmpty, kept.last == UInt8(ascii: "\n") { flush() }
        return total <= Self.maximumRead
    }

    /// Logs the output that is kept, without the lines that contain a secret or a part of one.
    mutating func flush() {
        let isLogged = logged <= Self.maximumLogged
        let places = isLogged ? SecretPlaces.places(of: secrets, in: kept) + earlier.places(in: kept) : []
        var start = 0
        while start < kept.count, logged <= Self.maximumLogged {
            let end = kept[start...].firstIndex(of: UInt8(ascii: "\n")) ?? kept.count
            if places.contains(where: { $0.overlaps(start..<end) }) {
                log?("\(name): (a line with the secret of the login is not logged)")
            } else if end > start {
                log?("\(name): \(HelperText.escaped(kept[start..<min(end, start + Self.maximumLine)]))")
            }
            logged += end + 1 - start
            start = end + 1
        }
        if !isRestLeftOut, start < kept.count || isCut {
            isRestLeftOut = true
            log?("\(name): the rest of its output is not logged")
        }
        for index in kept.indices { kept[index] = 0 }
        kept.removeAll(keepingCapacity: true)
    }
}

/// Finds the secrets of a login in what a helper has written, so that they are not logged.
package enum SecretPlaces {
    /// Finds all places of secrets, also across lines: a password may contain a line feed.
    package static func places(of secrets: [Secret], in bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        for secret in secrets where !secret.isEmpty && secret.count <= bytes.count {
            for start in 0...(bytes.count - secret.count) where isPlace(start, of: secret, in: bytes) {
                places.append(start..<(start + secret.count))
            }
        }
        return places
    }

    private static func isPlace(_ start: Int, of secret: Secret, in bytes: [UInt8]) -> Bool {
        secret.withBytes { wanted in
            for index in wanted.indices where bytes[start + index] != wanted[index] { return false }
            return true
        }
    }
}

/// The secrets of earlier requests to a process, as lengths and keyed hashes.
///
/// A program that runs on may write what it has printed in an earlier login, because C and Python keep output back until a
/// buffer is full. The secrets themselves are not kept.
struct SecretMarks {
    /// The number of secrets that are remembered; with more, the oldest are forgotten.
    static let maximum = 1024

    /// The SipHash with the random key of this process is that of `Hasher`.
    private struct Mark: Hashable {
        let length: Int
        let hash: Int

        init(_ bytes: Span<UInt8>) {
            var hasher = Hasher()
            for index in bytes.indices { hasher.combine(bytes[index]) }
            length = bytes.count
            hash = hasher.finalize()
        }
    }

    private var marks: Set<Mark> = []
    private var order: [Mark] = []

    mutating func add(_ secret: Secret) {
        guard !secret.isEmpty else { return }
        let mark = secret.withBytes { Mark($0) }
        guard marks.insert(mark).inserted else { return }
        order.append(mark)
        if order.count > Self.maximum { marks.remove(order.removeFirst()) }
    }

    func places(in bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        for length in Set(marks.map(\.length)) where length <= bytes.count {
            for start in 0...(bytes.count - length) {
                let place = start..<(start + length)
                if marks.contains(Mark(bytes.span.extracting(place))) { places.append(place) }
            }
        }
        return places
    }
}

package enum HelperText {
    /// Returns a text for the log with control characters as in `\u{1b}`; bytes that are not UTF-8 are replaced.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.isControl {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
