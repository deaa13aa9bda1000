// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// Rules that convert the name of a user in one realm to the user's name in another realm.
///
/// The rules are applied in order. `lower-case` converts A to Z; other letters stay as they are, because their lower
/// case depends on the version of Unicode. `PATTERN->REPLACEMENT` applies to names that match the pattern completely.
/// Of these rules only the first that matches is applied, so a name is rewritten at most once, and no text that a rule
/// inserted or uncovered is read as a pattern's text again.
///
/// A pattern has at most one `*`, which stands for any bytes; a `*` in the replacement stands for the same bytes. Names
/// are compared as bytes, in time linear in their length, without backtracking.
struct NameMapping: Sendable {
    static let maximumRules = 64

    private enum Rule {
        case lowerCase
        case replace(Pattern, by: Pattern)
    }

    private struct Pattern {
        let prefix: [UInt8]
        /// Nil if there is no `*`.
        let suffix: [UInt8]?

        init(_ text: Substring) throws(BadValue) {
            let parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw BadValue("takes patterns with at most one *, not \(text)") }
            prefix = Array(parts[0])
            suffix = parts.count == 2 ? Array(parts[1]) : nil
        }

        /// Returns the bytes for the `*`; nil if a name does not match.
        func match(_ name: [UInt8]) -> ArraySlice<UInt8>? {
            guard let suffix else { return name == prefix ? [] : nil }
            guard name.count >= prefix.count + suffix.count, name.starts(with: prefix),
                name.suffix(suffix.count).elementsEqual(suffix)
            else { return nil }
            return name[prefix.count..<(name.count - suffix.count)]
        }

        /// True if all names that another pattern matches match this one, too.
        func covers(_ other: Pattern) -> Bool {
            guard let suffix else { return other.suffix == nil && other.prefix == prefix }
            guard let otherSuffix = other.suffix else { return match(other.prefix) != nil }
            return other.prefix.starts(with: prefix) && otherSuffix.suffix(suffix.count).elementsEqual(suffix)
        }

        var matchesNames: Bool {
            [[], [UInt8(ascii: "a")]].contains { bytes in
                (try? Username(String(decoding: filled(with: bytes[...]), as: UTF8.self))) != nil
            }
        }

        func contains(where isWanted: (UInt8) -> Bool) -> Bool {
            prefix.contains(where: isWanted) || suffix?.contains(where: isWanted) == true
        }

        func filled(with bytes: ArraySlice<UInt8>) -> [UInt8] {
            guard let suffix else { return prefix }
            return prefix + bytes + suffix
        }
    }

    private let rules: [Rule]

    /// Reads rules such as `lower-case` and `*@example.org->*`.
    init(_ words: [String]) throws(BadValue) {
        guard words.count <= Self.maximumRules else { throw BadValue("takes at most \(Self.maximumRules) rules") }
        var rules: [Rule] = []
        for word in words { rules.append(try Self.rule(word)) }
        self.rules = rules
    }

    private static func rule(_ word: String) throws(BadValue) -> Rule {
        if word.utf8.elementsEqual("lower-case".utf8) { return .lowerCase }
        guard let arrow = word.utf8.firstRange(of: "->".utf8) else {
            throw BadValue("takes lower-case and rules such as *@example.org->*, not \(word)")
        }
        let (left, right) = (word[..<arrow.lowerBound], word[arrow.upperBound...])
        guard !left.isEmpty, right.utf8.firstRange(of: "->".utf8) == nil else {
            throw BadValue("takes rules with a pattern and one ->, not \(word)")
        }
        let (pattern, replacement) = (try Pattern(left), try Pattern(right))
        guard pattern.suffix != nil || replacement.suffix == nil else {
            throw BadValue("has a * after -> without a * before it, in \(word)")
        }
        return .replace(pattern, by: replacement)
    }

    /// The rules that are never applied, by their numbers, with the reasons.
    var unusedRules: [(number: Int, reason: String)] {
        var unused: [(number: Int, reason: String)] = []
        var earlier: [(pattern: Pattern, isLowered: Bool)] = []
        var isLowered = false
        for (number, rule) in rules.enumerated() {
            guard case .replace(let pattern, _) = rule else {
                isLowered = true
                continue
            }
            // Before lower-case, a pattern with letters does not match the names that are lowered later.
            let isCovered = earlier.contains { other in
                other.pattern.covers(pattern)
                    && (other.isLowered == isLowered || !other.pattern.contains(where: Self.isLetter))
            }
            if isLowered, pattern.contains(where: { ASCII.lowercased($0) != $0 }) {
                unused.append((number, "after lower-case no name has capital letters"))
            } else if !pattern.matchesNames {
                unused.append((number, "no valid user name matches it"))
            } else if isCovered {
                unused.append(
                    (number, "an earlier rule matches the same names, and only the first that matches is applied")
                )
            }
            earlier.append((pattern, isLowered))
        }
        return unused
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ASCII.lowercased(byte))
    }

    /// Returns the user's name in the other realm; throws if it is not valid, for example if it is empty.
    func name(of user: Username) throws(BadUsername) -> Username {
        guard !rules.isEmpty else { return user }
        var name = Array(user.text.utf8)
        var isReplaced = false
        for rule in rules {
            switch rule {
            case .lowerCase: name = name.map(ASCII.lowercased)
            case .replace(let pattern, let replacement):
                guard !isReplaced, let bytes = pattern.match(name) else { continue }
                name = replacement.filled(with: bytes)
                isReplaced = true
            }
        }
        // Pattern and name are UTF-8, so the bytes of a * begin and end between two characters.
        return try Username(String(decoding: name, as: UTF8.self))
    }
}
