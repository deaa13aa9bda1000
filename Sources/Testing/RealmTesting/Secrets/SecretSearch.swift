// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmKit
internal import Synchronization

/// Searches texts for secrets, as they are, in base64, in hexadecimal digits and percent-encoded.
struct SecretSearch: Sendable {
    struct Needle: Sendable {
        /// The words for the secret in a violation.
        let name: String
        let bytes: [UInt8]
        let digits: [UInt8]
        let base64: [[UInt8]]

        init(_ name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
            digits = bytes.flatMap { (($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8 }
            base64 = (0..<3).map { Base64Text.inside(bytes, offset: $0) }
        }
    }

    private let needles: [Needle]

    init(_ needles: [Needle]) { self.needles = needles }

    /// Returns the secrets that a text contains, each with its encoding.
    func finds(in text: [UInt8]) -> [String] {
        let decoded = text.contains(UInt8(ascii: "%")) ? Self.percentDecoded(text) : nil
        let plain = text.map { Base64Text.standard($0) }
        let lowered = text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return needles.compactMap { needle in
            if Self.contains(needle.bytes, in: text) { return needle.name }
            if let decoded, Self.contains(needle.bytes, in: decoded) { return "\(needle.name), percent-encoded" }
            if Self.contains(needle.digits, in: lowered) { return "\(needle.name), in hexadecimal digits" }
            if needle.base64.contains(where: { Self.contains($0, in: plain) }) { return "\(needle.name), in base64" }
            return nil
        }
    }

    /// Returns whether bytes contain other bytes; empty bytes are never found.
    static func contains(_ needle: [UInt8], in text: [UInt8]) -> Bool {
        guard let first = needle.first, needle.count <= text.count else { return false }
        // memchr and memcmp only read, within the two buffers, which are valid during the call.
        return unsafe text.withUnsafeBytes { text in
            unsafe needle.withUnsafeBytes { needle in
                guard let begin = text.baseAddress, let wanted = needle.baseAddress else { return false }
                var place = 0
                while place <= text.count - needle.count {
                    let rest = text.count - needle.count - place + 1
                    guard let found = unsafe memchr(begin + place, Int32(first), rest) else { return false }
                    if unsafe memcmp(found, wanted, needle.count) == 0 { return true }
                    place = unsafe UnsafeRawPointer(found) - begin + 1
                }
                return false
            }
        }
    }

    private static func percentDecoded(_ text: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
                let byte = UInt8(String(decoding: text[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(text[index])
                index += 1
            }
        }
        return decoded
    }
}

/// Searches the reports of logins for secrets, and collects the durations.
final class SecretWatch: Sendable {
    private struct State {
        var violations: [String] = []
        var loginCount = 0
        var times: [LoginTrial.Kind: (count: Int, total: Duration)] = [:]
    }

    let search: SecretSearch
    private let state = Mutex(State())

    init(_ search: SecretSearch) { self.search = search }

    /// The violations so far, each once.
    var violations: [String] { state.withLock { $0.violations } }
    var loginCount: Int { state.withLock { $0.loginCount } }

    /// The mean duration of the logins of each kind, as text.
    var durations: [String] {
        state.withLock { state in
            LoginTrial.Kind.allCases.compactMap { kind in
                state.times[kind].map { "\(kind.rawValue) logins: mean \($0.total / $0.count) of \($0.count)" }
            }
        }
    }

    /// Examines the notes, the faults and the texts of a report.
    func examine(_ result: LoginTrial.Result) {
        let report = result.report
        let count = state.withLock { state in
            state.loginCount += 1
            let time = state.times[result.kind] ?? (0, .zero)
            state.times[result.kind] = (time.count + 1, time.total + result.duration)
            return state.loginCount
        }
        for note in report.notes { examine(note.text, as: "a note") }
        for step in report.steps {
            if let fault = step.fault { examine("\(fault) \(fault.log)", as: "a fault") }
        }
        examine(String(describing: report), as: "the text of a report")
        if let identity = report.identity {
            examine("\(identity) \(identity.subject) \(identity.attributes)", as: "the text of an identity")
        }
        // A dump is slow, and all reports have the same types.
        guard count <= 50 else { return }
        var text = ""
        dump(report, to: &text, maxDepth: 8, maxItems: 1000)
        examine(text, as: "the dump of a report")
    }

    /// Examines a text; `source` names it in violations.
    func examine(_ text: String, as source: String) {
        for find in search.finds(in: Array(text.utf8)) {
            let violation = "\(source) contains \(find)"
            state.withLock { state in
                if !state.violations.contains(violation) { state.violations.append(violation) }
            }
        }
    }
}

/// Base64 of RFC 4648 section 4.
enum Base64Text {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the character of the standard alphabet for one of the URL-safe alphabet; other bytes are unchanged.
    static func standard(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }

    /// Returns the characters that bytes have inside a longer text in base64, after a number of bytes modulo 3.
    ///
    /// Characters that also depend on the bytes before or after them are left out.
    static func inside(_ bytes: [UInt8], offset: Int) -> [UInt8] {
        let end = 8 * (offset + bytes.count)
        let begin = (8 * offset + 5) / 6
        return (begin..<max(begin, end / 6)).map { place in
            var value = 0
            for bit in (6 * place)..<(6 * place + 6) {
                let byte = bytes[bit / 8 - offset]
                value = value << 1 | Int(byte >> UInt8(7 - bit % 8) & 1)
            }
            return alphabet[value]
        }
    }
}
