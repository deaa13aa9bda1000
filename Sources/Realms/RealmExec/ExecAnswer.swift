// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HelperProcesses
internal import RealmKit

/// The answer of a helper program, read from its lines.
///
/// A line must decide, and no other line may contradict it. Lines of BSD authentication that make no sense for a server
/// are ignored; unknown lines make the answer unusable.
struct ExecAnswer: Sendable {
    enum Decision: Sendable, Hashable {
        case accepted
        case refused(LoginFailure)
        /// The user must answer a challenge.
        case challenge(String)
    }

    static let maximumBytes = 65536, maximumLine = 4096, maximumGroups = 1024, maximumAttributes = 64, maximumName = 256

    /// The decision; nil if no line has decided.
    private(set) var decision: Decision?
    /// The user's name as the helper spells it; nil for the name of the request.
    private(set) var user: Username?
    private(set) var groups: [String] = []
    private var values: [(name: String, values: [String])] = []
    /// The attributes, after ``finish()``.
    private(set) var attributes: [UserAttribute] = []
    /// The text after `unavailable` or `overloaded`.
    private(set) var reason: String?
    private var challengeText: String?
    private var asksChallenge = false
    private let secrets: [Secret]
    /// True if a line contains a secret.
    private var hasSecret = false

    /// Creates an answer without lines; no error and no reason contains a line with one of the secrets.
    init(withholding secrets: [Secret]) { self.secrets = secrets }

    /// Reads a line without its end.
    mutating func add(_ line: ArraySlice<UInt8>) throws(HelperFault) {
        guard !line.isEmpty else { return }
        guard line.count <= Self.maximumLine else { throw Self.malformed("a line is too long") }
        let isSecret = !SecretPlaces.places(of: secrets, in: Array(line)).isEmpty
        hasSecret = hasSecret || isSecret
        let end = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        let word = try Self.text(line[..<end])
        let rest = end < line.endIndex ? line[(end + 1)...] : []
        switch word {
        case "authorize":
            switch try Self.text(rest) {
            case "", "root", "secure": try decide(.accepted)
            default: throw Self.malformed("authorize takes no such word")
            }
        case "reject": try reject(try Self.text(rest))
        case "locked": try decide(.refused(.locked))
        case "disabled": try decide(.refused(.disabled))
        case "expired": try decide(.refused(.accountExpired))
        case "must-change": try decide(.refused(.credentialExpired))
        case "unknown-user": try decide(.refused(.unknownUser))
        case "permission-denied": try decide(.refused(.permissionDenied))
        case "unavailable", "overloaded":
            reason = isSecret ? Self.withheld : HelperText.escaped(rest)
            try decide(.refused(word == "overloaded" ? .overloaded : .unavailable))
        case "challenge":
            challengeText = HelperText.escaped(rest)
            asksChallenge = true
        case "group":
            guard groups.count < Self.maximumGroups else { throw Self.malformed("there are too many groups") }
            groups.append(try Self.name(rest))
        case "user":
            let name = try Self.name(rest)
            user = try Result { () throws(BadUsername) in try Username(name) }.mapError {
                Self.malformed("the name after user is not valid: \(isSecret ? Self.withheld : "\($0)")")
            }.get()
        case "attribute": try addAttribute(rest)
        case "value": readValue(rest)
        case "setenv", "unsetenv", "remove", "fd": break
        default:
            let shown = isSecret ? Self.withheld : "\"\(HelperText.escaped(line.prefix(64)))\""
            throw Self.malformed("unknown line \(shown)")
        }
    }

    /// Completes the answer after its last line; a line must have decided.
    mutating func finish() throws(HelperFault) {
        if asksChallenge { try decide(.challenge(challengeText ?? "Response")) }
        guard decision != nil else { throw Self.malformed("no line accepts or rejects the user") }
        attributes = try values.map { (name, values) throws(HelperFault) in
            try Result { () throws(BadAttribute) in try UserAttribute(name: name, values: values) }
                .mapError { Self.malformed(hasSecret ? "an attribute is not valid" : "\($0)") }.get()
        }
    }

    /// Reads a name and a value; several lines with one name make several values.
    private mutating func addAttribute(_ rest: ArraySlice<UInt8>) throws(HelperFault) {
        let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
        let name = try Self.name(rest[..<end])
        let value = try Self.text(rest[end...].dropFirst()).string
        guard values.count < Self.maximumAttributes else { throw Self.malformed("there are too many attributes") }
        if let place = values.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            values[place].values.append(value)
        } else {
            values.append((name, [value]))
        }
    }

    private mutating func decide(_ decision: Decision) throws(HelperFault) {
        guard self.decision == nil || self.decision == decision else {
            throw Self.malformed("two lines contradict each other")
        }
        self.decision = decision
    }

    private mutating func reject(_ word: UTF8Text) throws(HelperFault) {
        switch word {
        case "", "silent": try decide(.refused(.wrongCredentials))
        case "challenge": asksChallenge = true
        case "expired": try decide(.refused(.accountExpired))
        case "pwexpired": try decide(.refused(.credentialExpired))
        default: throw Self.malformed("reject takes no such word")
        }
    }

    /// Reads `value challenge "text"` of BSD authentication; other values are ignored.
    private mutating func readValue(_ rest: ArraySlice<UInt8>) {
        let parts = rest.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, parts[0].elementsEqual("challenge".utf8) else { return }
        var text = parts[1]
        let quote = UInt8(ascii: "\"")
        if text.count >= 2, text.first == quote, text.last == quote { text = text.dropFirst().dropLast() }
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
                continue
            }
            plain.append(isEscaped && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "t")) ? 0x20 : byte)
            isEscaped = false
        }
        challengeText = HelperText.escaped(plain)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(HelperFault) -> UTF8Text {
        guard let text = UTF8Text(validating: bytes.span) else { throw malformed("a line is not UTF-8") }
        return text
    }

    private static func name(_ bytes: ArraySlice<UInt8>) throws(HelperFault) -> String {
        let text = try text(bytes).string
        guard !bytes.isEmpty, bytes.count <= maximumName, !text.containsControlCharacter else {
            throw malformed("a name is empty, too long or contains control characters")
        }
        return text
    }

    private static let withheld = "(a text with the secret of the login is not shown)"

    static func malformed(_ reason: String) -> HelperFault {
        HelperFault(.malformed, "the answer cannot be used: \(reason)")
    }
}
