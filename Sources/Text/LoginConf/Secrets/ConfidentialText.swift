// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The parts of a configuration that messages do not show, because they may contain passwords.
///
/// The log receives the messages of a reload, and more people may read it than the configuration. The parts are found at
/// the first look-up, because a text without errors and warnings does not need them.
final class ConfidentialText: Sendable {
    /// The parts as ranges of bytes, in the order of the text and without overlaps.
    struct Parts: Sendable {
        /// From the beginning of a value to the end of its line: a value may have a `;` that its author has not quoted.
        var lines: [Range<Int>] = []
        /// The values.
        var secrets: [Range<Int>] = []
        /// The values of unknown names, which are not shown, but whose words messages may contain.
        var unknown: [Range<Int>] = []

        func hasLine(from start: Int, to end: Int) -> Bool { !Self.ranges(lines, from: start, to: end).isEmpty }

        /// Returns the values that overlap a part of the text.
        func values(from start: Int, to end: Int) -> ArraySlice<Range<Int>> {
            Self.ranges(secrets, from: start, to: end)
        }

        /// Returns the beginning of the first value of an unknown name on a line; nil if there is none.
        func unknownValue(from start: Int, to end: Int) -> Int? {
            Self.ranges(unknown, from: start, to: end).first?.lowerBound
        }

        private static func ranges(_ all: [Range<Int>], from start: Int, to end: Int) -> ArraySlice<Range<Int>> {
            all[firstIndex(in: all, endingAfter: start)...].prefix { $0.lowerBound < end }
        }

        private static func firstIndex(in all: [Range<Int>], endingAfter place: Int) -> Int {
            var low = 0
            var high = all.count
            while low < high {
                let middle = (low + high) / 2
                if all[middle].upperBound <= place { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Adds a range, and unites it with those that it overlaps or touches.
        ///
        /// If it is after all others, it takes a time that does not grow with their number.
        static func insert(_ range: Range<Int>, into all: inout [Range<Int>]) {
            let first = firstIndex(in: all, endingAfter: range.lowerBound - 1)
            var united = range
            var next = first
            while next < all.count, all[next].lowerBound <= united.upperBound {
                united = min(all[next].lowerBound, united.lowerBound)..<max(all[next].upperBound, united.upperBound)
                next += 1
            }
            all.replaceSubrange(first..<next, with: CollectionOfOne(united))
        }
    }

    private let bytes: [UInt8]
    private let end: Int
    private let names: [[UInt8]]
    private let known = Mutex<Parts?>(nil)

    /// The text before `end` is searched for names such as `password`, and for `names`, whose values are secrets too.
    init(_ bytes: [UInt8], end: Int, names: Set<String>) {
        self.bytes = bytes
        self.end = end
        self.names = names.map { Array($0.utf8) }
    }

    /// The parts; the first call takes time in proportion to the text, and later ones constant time.
    var parts: Parts { known.withLock { found(&$0) } }

    /// A scanner of the text, at its beginning.
    var scanner: ConfidentialTextScanner { ConfidentialTextScanner(bytes, names: names, end: end) }

    /// Adds a value that was found by its place: a secret, or the value of an unknown name.
    func add(_ value: Range<Int>, isSecret: Bool) {
        known.withLock { known in
            var parts = found(&known)
            known = nil
            if isSecret {
                Parts.insert(value, into: &parts.lines)
                Parts.insert(value, into: &parts.secrets)
            } else {
                Parts.insert(value, into: &parts.unknown)
            }
            known = parts
        }
    }

    private func found(_ known: inout Parts?) -> Parts {
        if let known { return known }
        var scanner = scanner
        let parts = scanner.scan()
        known = parts
        return parts
    }
}

/// The kinds of names whose values may be secrets, in whatever kind of file they are.
enum SecretName {
    /// A name that ends with a word such as `password`.
    case secret
    /// A name whose last word is `code`.
    case code
    /// A name whose last word is `key`; the value is often the path of a file.
    case key
    /// The field of HTTP for credentials; a value follows a `:` or `=`.
    case field

    private static let endings = [
        "password", "passwd", "passphrase", "passcode", "passwort", "pass", "pwd", "pw", "secret", "credential",
        "credentials", "token", "tokens", "secrets", "authtok", "apikey", "accesskey", "privatekey", "bearer",
    ].map { Array($0.utf8) }

    /// The endings of which misspelled ones are recognized.
    private static let longEndings = [
        "password", "passphrase", "passcode", "credential", "credentials", "secret", "token",
    ].map { Array($0.utf8) }

    /// Names with one of the endings whose values are no secrets: settings, texts of pages and codes of refusals.
    private static let harmless = [
        "change-expired-password", "show-password", "hide-password", "one-time-code", "certificate-key",
        "wrong-credentials", "missing-credential", "unusable-credential", "invalid-credentials", "no-credentials",
        "passwords", "clearpass", "storepass", "tryfirstpass", "usefirstpass", "try_first_pass", "use_first_pass",
        "truncated-passwords",
    ].map { Array($0.utf8) }

    /// Returns the kind of a name, without regard to case, digits and signs at its end; nil if its value is probably no
    /// secret.
    init?(_ word: ArraySlice<UInt8>) {
        guard !Self.harmless.contains(where: { $0.count == word.count && Self.ends(word, with: $0) }) else {
            return nil
        }
        var name = word
        while let last = name.last, !last.isLetter { name = name.dropLast() }
        if Self.endings.contains(where: { Self.ends(name, with: $0) }) || Self.isMisspelled(name) {
            self = .secret
        } else if Self.hasLastWord(Array("code".utf8), in: name) {
            self = .code
        } else if Self.hasLastWord(Array("key".utf8), in: name) {
            self = .key
        } else if Self.hasLastWord(Array("authorization".utf8), in: name) {
            self = .field
        } else {
            return nil
        }
    }

    /// Returns whether the last part of a name is like one of the long endings.
    private static func isMisspelled(_ name: ArraySlice<UInt8>) -> Bool {
        let start = name.lastIndex { !$0.isLetterOrDigit }.map { $0 + 1 } ?? name.startIndex
        let last = name[start...]
        guard (4...13).contains(last.count), let second = last.dropFirst().first else { return false }
        // Most words of a text begin in another way.
        let beginnings = "pPcCtTsS".utf8
        guard beginnings.contains(last[last.startIndex]) || beginnings.contains(second) else { return false }
        let word = last.map(\.lowercased)
        return longEndings.contains { ending in
            let maximum = ending.count < 8 ? 1 : 2
            return abs(ending.count - word.count) <= maximum && EditDistance.between(ending, word) <= maximum
        }
    }

    private static func ends(_ word: ArraySlice<UInt8>, with ending: [UInt8]) -> Bool {
        guard word.count >= ending.count else { return false }
        return zip(word.suffix(ending.count), ending).allSatisfy { $0.lowercased == $1 }
    }

    /// Returns whether a name ends with a word of its own, as `api-key` and `apiKey` do, but not `monkey`.
    private static func hasLastWord(_ last: [UInt8], in word: ArraySlice<UInt8>) -> Bool {
        guard ends(word, with: last) else { return false }
        guard let before = word.dropLast(last.count).last, let first = word.suffix(last.count).first else {
            return true
        }
        return !before.isLetterOrDigit || before == before.lowercased && first != first.lowercased
    }
}
