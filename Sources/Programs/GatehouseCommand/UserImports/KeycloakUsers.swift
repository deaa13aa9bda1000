// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The users of a realm that Keycloak has exported (`kc.sh export`), with the realm or in a file of their own.
enum KeycloakUsers {
    static func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        // The length of the file limits the number of names.
        let export = try Result { () throws(JSONFault) in try JSONValue(reading: bytes.span, maximumNames: .max) }
            .mapError { BadUserFile("\(name): it is not the export of a realm: \($0)") }.get()
        do throws(KeycloakObject.Fault) {
            // The administration API returns the users as an array.
            let isArray = if case .array = export { true } else { false }
            let users = try isArray ? KeycloakObject.elements(export) : KeycloakObject(export).objects("users")
            guard let users else {
                let advice = "the export of the admin console has none: use kc.sh export"
                throw KeycloakObject.Fault(reason: "there are no users; \(advice)")
            }
            var result = ImportedUsers()
            for (index, user) in users.enumerated() { try add(user, place: "\(name): users[\(index)]", to: &result) }
            return result.finished()
        } catch {
            throw BadUserFile("\(name): \(error.reason)")
        }
    }

    private static func add(
        _ user: KeycloakObject,
        place: String,
        to result: inout ImportedUsers
    ) throws(KeycloakObject.Fault) {
        let name = try user.required("username", \.asText)
        var fields = UserFields(place: place, name: name)
        // As in Keycloak, a user without the field is disabled.
        fields.isEnabled = try user.value("enabled", \.asBoolean) ?? false
        let actions = try user.value("requiredActions", \.asTexts) ?? []
        fields.mustChangePassword = actions.contains { $0.hasBytes(of: "UPDATE_PASSWORD") }
        fields.displayName = [try user.value("firstName", \.asText), try user.value("lastName", \.asText)]
            .compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
        fields.mail = try user.value("email", \.asText)
        // A group is a path such as `/Staff/Night shift`.
        let groups = (try user.value("groups", \.asTexts) ?? []).map {
            $0.utf8.first == UInt8(ascii: "/") ? String($0.dropFirst()) : $0
        }
        // Every user of a realm has the role with the default roles of the realm.
        let roles = (try user.value("realmRoles", \.asTexts) ?? []).filter {
            !$0.utf8.starts(with: "default-roles-".utf8)
        }
        var names = NameList()
        for name in groups + roles { names.insert(name) }
        fields.groups = names.names
        guard try user.value("serviceAccountClientId", \.asText) == nil else {
            result.omit("accounts of clients", at: place)
            if let name = try? Username(name) { result.exclude(name, at: place) }
            return
        }
        for credential in try user.objects("credentials") ?? [] {
            let type = try credential.value("type", \.asText) ?? "password"
            switch UTF8Text(type) {
            case "password":
                guard case .none = fields.password else {
                    result.omit("second passwords", at: place)
                    continue
                }
                let password = try KeycloakPassword(credential)
                fields.password = password.imported
                if password.isTemporary { fields.mustChangePassword = true }
            case "password-history": break
            case _: result.omit("credentials of type \(type)", at: place)
            }
        }
        for (what, part) in [
            ("client roles", "clientRoles"), ("attributes", "attributes"),
            ("accounts of identity providers", "federatedIdentities"),
        ] where try user.value(part, \.hasParts) ?? false {
            result.omit(what, at: place)
        }
        if try user.value("federationLink", \.asText) != nil { result.omit("passwords of federated users", at: place) }
        for action in actions where !action.hasBytes(of: "UPDATE_PASSWORD") {
            result.omit("the required action \(action)", at: place)
        }
        fields.add(to: &result)
    }
}

/// An object of an export; a member that is null is the same as none.
private struct KeycloakObject {
    struct Fault: Error {
        let reason: String

        init(reason: String) { self.reason = reason }

        /// A value is missing or has another type.
        init(at path: String) {
            let path = path.drop { $0 == "." }
            reason =
                path.isEmpty ? "it is not the export of a realm" : "\(path): the value is missing or has another type"
        }
    }

    private let value: JSONValue
    private let path: String

    init(_ value: JSONValue, path: String = "") throws(Fault) {
        guard case .object = value else { throw Fault(at: path) }
        (self.value, self.path) = (value, path)
    }

    static func elements(_ value: JSONValue, path: String = "") throws(Fault) -> [KeycloakObject] {
        guard case .array(let elements) = value else { throw Fault(at: path) }
        return try elements.enumerated().map { index, element throws(Fault) in
            try KeycloakObject(element, path: "\(path)[\(index)]")
        }
    }

    func objects(_ name: String) throws(Fault) -> [KeycloakObject]? {
        try value[name].map { value throws(Fault) in try Self.elements(value, path: "\(path).\(name)") }
    }

    func object(_ name: String) throws(Fault) -> KeycloakObject? {
        try value[name].map { value throws(Fault) in try KeycloakObject(value, path: "\(path).\(name)") }
    }

    func value<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Fault) -> Value? {
        guard let member = value[name] else { return nil }
        guard let found = read(member) else { throw Fault(at: "\(path).\(name)") }
        return found
    }

    func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Fault) -> Value {
        guard let found = try value(name, read) else { throw Fault(at: path) }
        return found
    }
}

/// The password of a user of Keycloak.
///
/// Its fields are JSON in two texts. Before Keycloak 8 they were members of the credential. A file that an administrator
/// has written has the password in clear text, which Keycloak hashes when it imports the file.
///
/// Source: `CredentialRepresentation`, `RepresentationToModel`, `Pbkdf2PasswordHashProvider` and
/// `Argon2PasswordHashProvider` of Keycloak 7 and 26.
private struct KeycloakPassword {
    private struct Fields {
        let value, salt: String
        let iterations: Int
        let algorithm: String
        /// The member `additionalParameters`, an object of arrays of texts.
        var parameters: KeycloakObject?
    }

    // Keycloak replaces the old name HmacSHA1 in its database by pbkdf2.
    private static let pbkdf2: [UTF8Text: (name: String, count: Int)] = [
        "pbkdf2": ("pbkdf2", 20), "HmacSHA1": ("pbkdf2", 20), "pbkdf2-sha256": ("pbkdf2-sha256", 32),
        "pbkdf2-sha512": ("pbkdf2-sha512", 64),
    ]

    let imported: ImportedUser.Password
    /// True if the user must change the password in clear text.
    let isTemporary: Bool

    init(_ credential: KeycloakObject) throws(KeycloakObject.Fault) {
        let clearText = try credential.value("value", \.asText)
        isTemporary = try credential.value("temporary", \.asBoolean) ?? false && clearText != nil
        if let clearText, !clearText.isEmpty {
            imported = .clearText(Secret(Array(clearText.utf8)))
        } else if let value = try credential.value("hashedSaltedValue", \.asText),
            let salt = try credential.value("salt", \.asText),
            let count = try credential.value("hashIterations", \.asNumber)
        {
            // A credential without an algorithm is older than the choice of one.
            let algorithm = try credential.value("algorithm", \.asText) ?? "pbkdf2"
            imported = try Self.hash(Fields(value: value, salt: salt, iterations: count, algorithm: algorithm))
        } else if let secret = try credential.value("secretData", \.asText),
            let data = try credential.value("credentialData", \.asText)
        {
            imported = (try? Self.hash(secret, data)) ?? .unusable("the fields of the password cannot be read")
        } else {
            imported = .unusable("the password has no secretData or no credentialData")
        }
    }

    private static func hash(_ secretData: String, _ credentialData: String) throws -> ImportedUser.Password {
        let secret = try KeycloakObject(JSONValue(reading: secretData.utf8Span.span))
        let data = try KeycloakObject(JSONValue(reading: credentialData.utf8Span.span))
        return try hash(
            Fields(
                value: try secret.required("value", \.asText),
                salt: try secret.required("salt", \.asText),
                iterations: try data.required("hashIterations", \.asNumber),
                algorithm: try data.required("algorithm", \.asText),
                parameters: try data.object("additionalParameters")
            )
        )
    }

    private static func hash(_ fields: Fields) throws(KeycloakObject.Fault) -> ImportedUser.Password {
        guard let salt = Base64.padded.decode(fields.salt), let value = Base64.padded.decode(fields.value) else {
            return .unusable("the salt or the value of the password is not Base64")
        }
        if let (name, count) = pbkdf2[UTF8Text(fields.algorithm)] {
            guard value.count >= count else {
                return .unusable("the value of the password has less than \(count) bytes")
            }
            // Every beginning of a key of PBKDF2 is itself a key, of that length (RFC 8018 section 5.2).
            let key = Array(value.prefix(count))
            return .hash(
                "$\(name)$\(fields.iterations)$\(Base64.dotted.encode(salt.span))$\(Base64.dotted.encode(key.span))"
            )
        }
        guard fields.algorithm.hasBytes(of: "argon2") else {
            return .unusable("the algorithm \(fields.algorithm) is not supported")
        }
        return try argon2(fields, salt: salt, value: value)
    }

    private static func argon2(
        _ fields: Fields,
        salt: [UInt8],
        value: [UInt8]
    ) throws(KeycloakObject.Fault) -> ImportedUser.Password {
        func parameter(_ name: String) throws(KeycloakObject.Fault) -> String? {
            try fields.parameters?.value(name, \.asTexts)?.first
        }
        guard let type = try parameter("type"), let memory = try parameter("memory").flatMap(Int.init),
            let lanes = try parameter("parallelism").flatMap(Int.init)
        else { return .unusable("a parameter of argon2 is missing: type, memory or parallelism") }
        guard ["id", "i", "d"].contains(where: { $0.hasBytes(of: type) }) else {
            return .unusable("the type \(type) of argon2 is not supported")
        }
        guard try parameter("version")?.hasBytes(of: "1.3") ?? true else {
            return .unusable("only version 1.3 of argon2 is supported")
        }
        let cost = "m=\(memory),t=\(fields.iterations),p=\(lanes)"
        return .hash(
            "$argon2\(type)$v=19$\(cost)$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(value.span))"
        )
    }
}
