// SPDX-License-Identifier: Apache-2.0

/// The names that a program knows in its configuration, and whether messages may quote the values after them.
///
/// A message, a hint and the line below them quote a name if it is known or similar to a known one, and a value only if it
/// belongs to a known name and its schema declares it as harmless. What is unknown is not quoted, because it may be a
/// secret that a mistake has moved.
public final class KnownNames: Sendable {
    /// No names: nothing is quoted.
    public static let none = KnownNames(harmless: [])

    private let harmless: Set<String>
    private let secret: Set<String>
    private let all: Set<String>
    private let nearest: NearestName
    private let nearestSecret: NearestName

    /// Creates the names of a program.
    ///
    /// - Parameters:
    ///   - harmless: The names of statements and options whose values are no secrets.
    ///   - secret: The names whose values are never quoted; a name in both lists counts as one of these.
    ///   - words: Other words that may be quoted, such as the names of classes.
    public init(harmless: Set<String>, secret: Set<String> = [], words: Set<String> = []) {
        self.harmless = harmless.subtracting(secret)
        self.secret = secret
        all = harmless.union(secret).union(words)
        nearest = NearestName(among: all.sorted())
        // Short words are similar to too many others.
        nearestSecret = NearestName(among: secret.filter { $0.utf8.count > 4 })
    }

    /// Returns whether messages may quote the values of a statement or an option.
    public func isHarmless(_ name: String) -> Bool { harmless.contains(name) }

    /// Returns whether the values of a name may not be quoted, although the name, or a similar one, is known.
    public func isSecret(_ name: String) -> Bool {
        if harmless.contains(name) { return false }
        if secret.contains(name) { return true }
        return nearestSecret.suggest(name) != nil
    }

    /// Returns whether messages may quote a name: it is known, or similar to a known one.
    public func mayQuote(_ name: String) -> Bool {
        all.contains(name) || nearest.suggest(name) != nil
    }
}
