// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import FoundationEssentials
internal import RealmKit

/// The users of a realm that Keycloak has exported (`kc.sh export`), with the realm or in a file of their own.
enum KeycloakUsers {
    static func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        let export: Export
        // JSONDecoder accepts a member that occurs twice, and uses one of the two values.
        do throws(JSONReader.Fault) {
            try checkJSON(bytes)
        } catch {
            throw BadUserFile("\(name): it is not the export of a realm: \(error)")
        }
        do {
            // The administration API returns the users as an array.
            let isArray = bytes.first { $0 > 0x20 } == UInt8(ascii: "[")
            export =
                isArray
                ? Export(users: try JSONDecoder().decode([User].self, from: Data(bytes)))
                : try JSONDecoder().decode(Export.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw BadUserFile("\(name): \(Self.text(error))")
        } catch {
            throw BadUserFile("\(name): it is not JSON")
        }
        guard let users = export.users else {
            throw BadUserFile("\(name): there are no users; the export of the admin console has none: use kc.sh export")
        }
        var result = ImportedUsers()
        for (index, user) in users.enumerated() {
            read(user, place: "\(name): users[\(index)]", into: &result)
        }
        return result.finished()
    }

    /// Checks that bytes are JSON in which no object has two members of the same name.
    static func checkJSON(_ bytes: [UInt8]) throws(JSONReader.Fault) {
        // The length of the file limits the number of names.
        var reader = JSONReader([], maximumNames: .max)
        try reader.read(bytes.span)
        try reader.finish()
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
                .joined()
            // The library's text for a syntax error has the line and the column.
            let syntax = context.underlyingError.map { ": \($0)" } ?? ""
            return path.isEmpty
                ? "it is not the export of a realm\(syntax)"
                : "\(path.drop { $0 == "." }): the value is missing or has another type"
        @unknown default: return "it is not the export of a realm"
        }
    }

    private static func read(_ user: User, place: String, into result: inout ImportedUsers) {
        guard user.serviceAccountClientId == nil else {
            result.omit("accounts of clients", at: place)
            if let name = try? Username(user.username) { result.exclude(name, at: place) }
            return
        }
        var fields = UserFields(place: place, name: user.username)
        // As in Keycloak, a user without the field is disabled.
        fields.isEnabled = user.enabled ?? false
        fields.mustChangePassword = user.requiredActions?.contains { $0.hasBytes(of: "UPDATE_PASSWORD") } ?? false
        fields.displayName = [user.firstName, user.lastName].compactMap(\.self).filter { !$0.isEmpty }
            .joined(separator: " ")
        fields.mail = user.email
        // A group is a path such as `/Staff/Night shift`.
        let groups = (user.groups ?? []).map { $0.utf8.first == UInt8(ascii: "/") ? String($0.dropFirst()) : $0 }
        // Every user of a realm has the role with the default roles of the realm.
        let roles = (user.realmRoles ?? []).filter { !$0.utf8.starts(with: "default-roles-".utf8) }
        var names = NameList()
        for name in groups + roles { names.insert(name) }
        fields.groups = names.names
        for credential in user.credentials ?? [] {
            switch UTF8Text(credential.type ?? "password") {
            case "password":
                guard case .none = fields.password else {
                    result.omit("second passwords", at: place)
                    continue
                }
                fields.password = credential.password
                if credential.value != nil, credential.temporary == true { fields.mustChangePassword = true }
            case "password-history": break
            case _: result.omit("credentials of type \(credential.type ?? "")", at: place)
            }
        }
        for (what, part) in [
            ("client roles", user.clientRoles), ("attributes", user.attributes),
            ("accounts of identity providers", user.federatedIdentities),
        ] where part?.isEmpty == false {
            result.omit(what, at: place)
        }
        if user.federationLink != nil { result.omit("passwords of federated users", at: place) }
        for action in user.requiredActions ?? [] where !action.hasBytes(of: "UPDATE_PASSWORD") {
            result.omit("the required action \(action)", at: place)
        }
        fields.add(to: &result)
    }

    // MARK: The fields of the export

    private struct Export: Decodable {
        var users: [User]?
    }

    private struct User: Decodable {
        var username: String
        var enabled: Bool?
        var email: String?
        var firstName: String?
        var lastName: String?
        var groups: [String]?
        var realmRoles: [String]?
        var requiredActions: [String]?
        var serviceAccountClientId: String?
        var credentials: [KeycloakCredential]?
        var clientRoles: Part?
        var attributes: Part?
        var federatedIdentities: Part?
        var federationLink: String?
    }

    /// An array or an object of which only the presence matters.
    private struct Part: Decodable {
        let isEmpty: Bool

        init(from decoder: any Decoder) throws {
            isEmpty =
                if let members = try? decoder.container(keyedBy: AnyKey.self) {
                    members.allKeys.isEmpty
                } else {
                    try decoder.unkeyedContainer().isAtEnd
                }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

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
