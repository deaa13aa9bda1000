// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import FoundationEssentials
internal import RealmKit

/// A credential of a user of Keycloak.
///
/// The fields of a password are JSON in two texts. Before Keycloak 8 they were members of the credential. A file that an
/// administrator has written has the password in clear text, which Keycloak hashes when it imports the file.
///
/// Source: `CredentialRepresentation`, `RepresentationToModel`, `Pbkdf2PasswordHashProvider` and
/// `Argon2PasswordHashProvider` of Keycloak 7 and 26.
struct KeycloakCredential: Decodable {
    var type: String?
    var secretData: String?
    var credentialData: String?
    /// The password in clear text.
    var value: String?
    /// True if the user must change the password in clear text.
    var temporary: Bool?
    // The members before Keycloak 8.
    var hashedSaltedValue: String?
    var salt: String?
    var hashIterations: Int?
    var algorithm: String?

    private struct SecretData: Decodable {
        var value: String
        var salt: String
    }

    private struct CredentialData: Decodable {
        var hashIterations: Int
        var algorithm: String
        var additionalParameters: [String: [String]]?
    }

    // Keycloak replaces the old name HmacSHA1 in its database by pbkdf2.
    private static let pbkdf2: [UTF8Text: (name: String, count: Int)] = [
        "pbkdf2": ("pbkdf2", 20), "HmacSHA1": ("pbkdf2", 20), "pbkdf2-sha256": ("pbkdf2-sha256", 32),
        "pbkdf2-sha512": ("pbkdf2-sha512", 64),
    ]

    /// The password: in a format that the realms read, or in clear text.
    var password: ImportedUser.Password {
        if let value, !value.isEmpty { return .clearText(Secret(Array(value.utf8))) }
        if let hashedSaltedValue, let salt, let hashIterations {
            // A credential without an algorithm is older than the choice of one.
            let data = CredentialData(hashIterations: hashIterations, algorithm: algorithm ?? "pbkdf2")
            return hash(SecretData(value: hashedSaltedValue, salt: salt), data)
        }
        guard let secretData, let credentialData else {
            return .unusable("the password has no secretData or no credentialData")
        }
        do {
            try KeycloakUsers.checkJSON(Array(secretData.utf8))
            try KeycloakUsers.checkJSON(Array(credentialData.utf8))
            return hash(
                try JSONDecoder().decode(SecretData.self, from: Data(secretData.utf8)),
                try JSONDecoder().decode(CredentialData.self, from: Data(credentialData.utf8))
            )
        } catch {
            return .unusable("the fields of the password cannot be read")
        }
    }

    private func hash(_ secret: SecretData, _ data: CredentialData) -> ImportedUser.Password {
        guard let salt = Base64.padded.decode(secret.salt), let value = Base64.padded.decode(secret.value) else {
            return .unusable("the salt or the value of the password is not Base64")
        }
        if let (name, count) = Self.pbkdf2[UTF8Text(data.algorithm)] {
            guard value.count >= count else {
                return .unusable("the value of the password has less than \(count) bytes")
            }
            // Every beginning of a key of PBKDF2 is itself a key, of that length (RFC 8018 section 5.2).
            let key = Array(value.prefix(count))
            return .hash(
                "$\(name)$\(data.hashIterations)$\(Base64.dotted.encode(salt.span))$\(Base64.dotted.encode(key.span))"
            )
        }
        guard data.algorithm.hasBytes(of: "argon2") else {
            return .unusable("the algorithm \(data.algorithm) is not supported")
        }
        return argon2(data, salt: salt, value: value)
    }

    private func argon2(_ data: CredentialData, salt: [UInt8], value: [UInt8]) -> ImportedUser.Password {
        let parameters = data.additionalParameters ?? [:]
        func parameter(_ name: String) -> String? { parameters[name]?.first }
        guard let type = parameter("type"), let memory = parameter("memory").flatMap(Int.init),
            let lanes = parameter("parallelism").flatMap(Int.init)
        else { return .unusable("a parameter of argon2 is missing: type, memory or parallelism") }
        guard ["id", "i", "d"].contains(where: { $0.hasBytes(of: type) }) else {
            return .unusable("the type \(type) of argon2 is not supported")
        }
        guard parameter("version")?.hasBytes(of: "1.3") ?? true else {
            return .unusable("only version 1.3 of argon2 is supported")
        }
        let cost = "m=\(memory),t=\(data.hashIterations),p=\(lanes)"
        return .hash(
            "$argon2\(type)$v=19$\(cost)$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(value.span))"
        )
    }
}
