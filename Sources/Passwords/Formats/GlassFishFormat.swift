// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// GlassFish's `{SSHA256}`: SHA-256 of password and salt, hashed a hundred times in all.
///
/// LDAP's `{SSHA256}` is another format.
///
/// `{GF-SSHA256}` is read everywhere, `{SSHA256}` only with ``FormatOptions/isGlassFish``. GlassFish's `{SSHA}` is the
/// same as LDAP's.
enum GlassFishFormat: PasswordFormat {
    static let names = ["{GF-SSHA256}"]

    private static let rounds = 100

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored),
            text.folded == "GF-SSHA256" || options.isGlassFish && text.folded == "SSHA256"
        else { return nil }
        let fields = try HashFields(text.rest, of: "{\(text.folded)}", counts: 1...1)
        return try LDAPFormat.digest(fields, function: .sha256, isSalted: true, rounds: rounds)
    }
}

/// Conversion of stored passwords between GlassFish's key files, where `{SSHA256}` is GlassFish's format, and other
/// places, where it is LDAP's.
public enum GlassFishPassword {
    private static let inKeyFile = "{SSHA256}"
    private static let elsewhere = "{GF-SSHA256}"

    /// Rewrites a stored text of a key file so that it means the same without ``FormatOptions/isGlassFish``.
    ///
    /// - Parameter stored: The text of the key file.
    /// - Returns: The text with `{GF-SSHA256}` for `{SSHA256}`; any other text unchanged.
    public static func portable(_ stored: String) -> String {
        guard SchemeText(stored)?.folded == "SSHA256" else { return stored }
        return elsewhere + stored.dropFirst(inKeyFile.count)
    }

    /// Rewrites a stored text so that it means the same in a key file.
    ///
    /// - Parameter stored: The text of another place.
    /// - Returns: The text with `{SSHA256}` for `{GF-SSHA256}`, any other text unchanged; nil for LDAP's `{SSHA256}`,
    ///   which a key file cannot hold.
    public static func inKeyFile(_ stored: String) -> String? {
        switch SchemeText(stored)?.folded {
        case "GF-SSHA256": inKeyFile + stored.dropFirst(elsewhere.count)
        case "SSHA256": nil
        case _: stored
        }
    }
}
