// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The kinds of names whose values may be secrets, in whatever kind of file they are.
enum SecretName {
    /// A name that ends with a word such as `password`.
    case secret
    /// A name whose last word is `code`.
    case code
    /// A name whose last word is `key`; the value is often the path of a file.
    case key

    private static let endings = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "credentials", "token", "apikey",
    ].map { Array($0.utf8) }

    /// Names with one of the endings whose values are no secrets: settings, texts of pages and codes of refusals.
    private static let harmless = [
        "change-expired-password", "show-password", "hide-password", "one-time-code", "certificate-key",
        "wrong-credentials", "missing-credential", "unusable-credential", "invalid-credentials", "no-credentials",
    ].map { Array($0.utf8) }

    /// Returns the kind of a name; nil if its value is probably no secret.
    ///
    /// - Parameter word: The name, compared without regard to case.
    init?(_ word: ArraySlice<UInt8>) {
        let kind: SecretName
        if Self.endings.contains(where: { Self.ends(word, with: $0) }) {
            kind = .secret
        } else if Self.hasLastWord(Array("code".utf8), in: word) {
            kind = .code
        } else if Self.hasLastWord(Array("key".utf8), in: word) {
            kind = .key
        } else {
            return nil
        }
        guard !Self.harmless.contains(where: { $0.count == word.count && Self.ends(word, with: $0) }) else {
            return nil
        }
        self = kind
    }

    /// Returns whether a text such as `did you mean password?` suggests such a name.
    static func isSuggested(by hint: String) -> Bool {
        guard hint.utf8.starts(with: "did you mean ".utf8) else { return false }
        return Array(hint.utf8).split { !$0.isNamePart }.contains { SecretName($0) != nil }
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
