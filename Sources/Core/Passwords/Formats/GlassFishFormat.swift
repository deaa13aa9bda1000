// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// GlassFish's `{SSHA256}`: 100 rounds of SHA-256, the first over password and salt.
///
/// LDAP uses the same name for another format. `{SSHA256}` is therefore read as GlassFish's format only if
/// ``FormatOptions/isGlassFish`` is set. `{GF-SSHA256}` always has GlassFish's format.
///
/// `{SSHA}` means the same in GlassFish and LDAP.
enum GlassFishFormat: PasswordFormat {
    static let names = ["{GF-SSHA256}"]

    private static let rounds = 100

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored),
            text.uppercaseName == "GF-SSHA256" || options.isGlassFish && text.uppercaseName == "SSHA256"
        else { return nil }
        let fields = try HashFields(text.rest, of: "{\(text.uppercaseName)}", counts: 1...1)
        return try LDAPFormat.digest(fields, function: .sha256, isSalted: true, rounds: rounds)
    }
}

/// Converts stored passwords between GlassFish's key files and other stores.
///
/// In a key file `{SSHA256}` means GlassFish's format. In other stores it means LDAP's format.
public enum GlassFishPassword {
    private static let keyFileScheme = "{SSHA256}"
    private static let portableScheme = "{GF-SSHA256}"

    /// Rewrites a stored text of a key file so that it means the same without ``FormatOptions/isGlassFish``.
    ///
    /// - Parameter stored: The text of the key file.
    /// - Returns: The text with `{GF-SSHA256}` for `{SSHA256}`; any other text unchanged.
    public static func portable(_ stored: String) -> String {
        guard SchemeText(stored)?.uppercaseName == "SSHA256" else { return stored }
        return portableScheme + stored.dropFirst(keyFileScheme.count)
    }

    /// Rewrites a stored text so that it means the same in a key file.
    ///
    /// - Parameter stored: The text of another store.
    /// - Returns: The text with `{SSHA256}` for `{GF-SSHA256}`; any other text unchanged. Nil for LDAP's `{SSHA256}`,
    ///   which a key file cannot contain.
    public static func inKeyFile(_ stored: String) -> String? {
        switch SchemeText(stored)?.uppercaseName {
        case "GF-SSHA256": keyFileScheme + stored.dropFirst(portableScheme.count)
        case "SSHA256": nil
        case _: stored
        }
    }
}
