// SPDX-License-Identifier: Apache-2.0

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
    ]
    .map { Array($0.utf8) }

    /// Names with one of the endings whose values are no secrets: settings, texts of pages and codes of refusals.
    private static let harmless = [
        "change-expired-password", "show-password", "hide-password", "one-time-code", "certificate-key",
        "wrong-credentials", "missing-credential", "unusable-credential", "invalid-credentials", "no-credentials",
        "passwords", "clearpass", "storepass", "tryfirstpass", "usefirstpass", "try_first_pass", "use_first_pass",
        "truncated-passwords",
    ].map { Array($0.utf8) }

    /// Returns the kind of a name; nil if its value is probably no secret.
    ///
    /// - Parameter word: The name, compared without regard to case, and without digits and signs at its end.
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
