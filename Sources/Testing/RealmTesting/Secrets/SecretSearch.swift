// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import RealmKit
internal import Synchronization

/// Searches texts for secrets, as they are, in base64, in hexadecimal digits and percent-encoded.
struct SecretSearch: Sendable {
    private struct Needle: Sendable {
        /// The words for the secret in a violation.
        let name: String
        let bytes: Data
        let digits: Data
        /// The characters inside a longer text in base64, for each place of the first byte modulo 3.
        let base64: [Data]
    }

    private var needles: [Needle] = []

    mutating func add(_ name: String, _ secret: [UInt8]) {
        let bytes = Data(secret)
        let base64 = (0..<3).map { offset in
            let text = (Data(count: offset) + bytes).base64EncodedData()
            // Characters that also depend on the bytes before or after the secret are left out.
            return Data(text[(8 * offset + 5) / 6..<8 * (offset + bytes.count) / 6])
        }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        needles.append(Needle(name: name, bytes: bytes, digits: Data(digits.utf8), base64: base64))
    }

    /// Returns the secrets that a text contains, each with its encoding.
    func finds(in text: Data) -> [String] {
        let decoded = Self.percentDecoded(text)
        let lowered = Data(text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 })
        let standard = Data(text.map(Self.standardBase64))
        return needles.compactMap { needle in
            if text.range(of: needle.bytes) != nil { return needle.name }
            if decoded.range(of: needle.bytes) != nil { return "\(needle.name), percent-encoded" }
            if lowered.range(of: needle.digits) != nil { return "\(needle.name), in hexadecimal digits" }
            if needle.base64.contains(where: { standard.range(of: $0) != nil }) { return "\(needle.name), in base64" }
            return nil
        }
    }

    /// Returns the character of the standard alphabet for one of the URL-safe alphabet; other bytes are unchanged.
    private static func standardBase64(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }

    private static func percentDecoded(_ text: Data) -> Data {
        var decoded = Data()
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}

/// Searches the reports of logins for secrets.
final class SecretWatch: Sendable {
    private struct State {
        var violations: [String] = []
        var loginCount = 0
    }

    let search: SecretSearch
    private let state = Mutex(State())

    init(_ search: SecretSearch) { self.search = search }

    /// The violations so far, each once.
    var violations: [String] { state.withLock { $0.violations } }
    var loginCount: Int { state.withLock { $0.loginCount } }

    /// Examines the notes, the faults and the texts of a report.
    func examine(_ report: LoginReport) {
        let count = state.withLock { state in
            state.loginCount += 1
            return state.loginCount
        }
        for note in report.notes { examine(note.text, as: "a note") }
        for fault in report.steps.compactMap(\.fault) { examine("\(fault) \(fault.log)", as: "a fault") }
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
        for find in search.finds(in: Data(text.utf8)) {
            let violation = "\(source) contains \(find)"
            state.withLock { state in
                if !state.violations.contains(violation) { state.violations.append(violation) }
            }
        }
    }
}
