// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The users of a `tomcat-users.xml`, the file of `UserDatabaseRealm` and `MemoryRealm`.
///
/// The groups of a user are the roles: the user's own roles, and those of the groups of the file.
struct TomcatUsers {
    /// The algorithms of the credential handlers; empty if they are not known.
    let algorithms: [TomcatAlgorithm]

    func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        var users: [XMLTag] = []
        var rolesByGroup: [UTF8Text: NameList] = [:]
        var result = ImportedUsers()
        do throws(XMLReader.Fault) {
            try XMLReader.read(bytes) { tag throws(XMLReader.Fault) in
                if tag.depth == 0, !tag.name.hasBytes(of: "tomcat-users") {
                    throw XMLReader.Fault(line: tag.line, column: 1, reason: "the root element is not tomcat-users")
                }
                guard tag.depth == 1 else { return }
                switch UTF8Text(tag.name) {
                case "user":
                    if (tag["username"] ?? tag["name"]) == nil {
                        result.addProblem("\(name):\(tag.line): the user is ignored: there is no username")
                    } else {
                        users.append(tag)
                    }
                case "group":
                    if let group = tag["groupname"] ?? tag["name"] {
                        rolesByGroup[UTF8Text(group), default: NameList()].insert(list: tag["roles"])
                    }
                case _: break
                }
            }
        } catch {
            throw BadUserFile("\(name):\(error.line):\(error.column): \(error.reason)")
        }
        var inheritedCount = 0
        for user in users {
            var fields = UserFields(place: "\(name):\(user.line)", name: user["username"] ?? user["name"] ?? "")
            fields.groups = Self.roles(of: user, rolesByGroup: rolesByGroup, inheritedCount: &inheritedCount)
            guard inheritedCount <= Self.maximumInherited else {
                let reason = "the users have more than \(Self.maximumInherited) roles of groups in all"
                throw BadUserFile("\(fields.place): \(reason)")
            }
            fields.displayName = user["fullName"] ?? user["fullname"]
            if let stored = user["password"], !stored.isEmpty { fields.password = password(stored) }
            fields.add(to: &result)
        }
        return result.finished()
    }

    /// The roles of a user without repetitions; at most one more than a user may have.
    private static func roles(
        of user: XMLTag,
        rolesByGroup: [UTF8Text: NameList],
        inheritedCount: inout Int
    ) -> [String] {
        var roles = NameList()
        roles.insert(list: user["roles"])
        var groups = NameList()
        groups.insert(list: user["groups"])
        // A user with too many groups is rejected like one with too many roles.
        guard groups.names.count <= UserFields.maximumGroups else { return groups.names }
        for group in groups.names {
            guard let inherited = rolesByGroup[UTF8Text(group)] else { continue }
            inheritedCount += inherited.names.count
            guard inheritedCount <= maximumInherited else { break }
            for role in inherited.names { roles.insert(role) }
        }
        return roles.names
    }

    /// The maximum number of roles that the users of a file have by groups: a short file could otherwise stand for any number
    /// of roles, with many users in many groups with many roles.
    static let maximumInherited = 10_000_000

    private func password(_ stored: String) -> ImportedUser.Password {
        // Tomcat reads these prefixes only with a handler for digests, but no administrator has such a clear password.
        if ["{MD5}", "{SHA}", "{SSHA}"].contains(where: { stored.utf8.starts(with: $0.utf8) }) { return .hash(stored) }
        let digest = TomcatPassword(stored)
        let looksLikeHash = digest != nil || TomcatPassword.looksLikeHash(stored)
        guard !algorithms.isEmpty else {
            guard looksLikeHash else { return .clearText(Secret(Array(stored.utf8))) }
            let fitting = TomcatAlgorithm.allCases.filter { algorithm in digest.flatMap(algorithm.hash) != nil }
            return .unusable(
                "the password looks like a hash: give --algorithm with the algorithm of the CredentialHandler in "
                    + "server.xml or context.xml" + (fitting.count == 1 ? ", here \(fitting[0].rawValue)" : "")
            )
        }
        let hashes = digest.map { digest in algorithms.compactMap { $0.hash(digest) } } ?? []
        if hashes.count > 1 { return .unusable("the password fits more than one of the given algorithms") }
        if let hash = hashes.first { return .hash(hash) }
        guard algorithms.contains(.clear) else {
            return .unusable("the password is not a hash of the given algorithm; --algorithm clear is for clear text")
        }
        guard !looksLikeHash || algorithms.allSatisfy({ $0 == .clear }) else {
            return .unusable("the password looks like a hash, but not of a given algorithm")
        }
        return .clearText(Secret(Array(stored.utf8)))
    }
}

/// The algorithm of a credential handler of Tomcat, with the names of Java: `clear` or a digest of a
/// `MessageDigestCredentialHandler`, or PBKDF2 of a `SecretKeyCredentialHandler`.
enum TomcatAlgorithm: String, Sendable, CaseIterable {
    case clear
    case md5 = "MD5"
    /// Java also calls it `SHA`.
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"
    /// The default of its handler.
    case pbkdf2SHA1 = "PBKDF2WithHmacSHA1"
    case pbkdf2SHA256 = "PBKDF2WithHmacSHA256"
    case pbkdf2SHA384 = "PBKDF2WithHmacSHA384"
    case pbkdf2SHA512 = "PBKDF2WithHmacSHA512"

    /// The number of bytes of a digest, the scheme of a digest without salt, and that of `salt$iterations$hash`.
    private var format: (count: Int, digest: String?, salted: String) {
        switch self {
        case .clear: (0, nil, "")
        case .md5: (16, "{MD5}", "{TOMCAT-MD5}")
        case .sha1: (20, "{SHA}", "{TOMCAT-SHA-1}")
        case .sha256: (32, "{SHA256}", "{TOMCAT-SHA-256}")
        case .sha384: (48, "{SHA384}", "{TOMCAT-SHA-384}")
        case .sha512: (64, "{SHA512}", "{TOMCAT-SHA-512}")
        case .pbkdf2SHA1: (20, nil, "{TOMCAT-PBKDF2-SHA1}")
        case .pbkdf2SHA256: (32, nil, "{TOMCAT-PBKDF2-SHA256}")
        case .pbkdf2SHA384: (48, nil, "{TOMCAT-PBKDF2-SHA384}")
        case .pbkdf2SHA512: (64, nil, "{TOMCAT-PBKDF2-SHA512}")
        }
    }

    /// A stored password in a format that the realms read; nil if the handler stores none like it.
    func hash(_ stored: TomcatPassword) -> String? {
        switch stored {
        case .digest(let bytes):
            guard let scheme = format.digest, bytes.count == format.count else { return nil }
            return scheme + Base64.padded.encode(bytes.span)
        case .salted(let salt, let iterations, let hash):
            guard self != .clear, format.digest == nil || hash.count == format.count else { return nil }
            // Every beginning of a key of PBKDF2 is itself a key, of that length (RFC 8018 section 5.2).
            let key = Array(hash.prefix(format.count))
            return format.salted + "\(Hexadecimal.encode(salt.span))$\(iterations)$\(Hexadecimal.encode(key.span))"
        }
    }
}

/// A password in the forms in which Tomcat's credential handlers store it.
enum TomcatPassword {
    /// A digest in hexadecimal digits.
    case digest([UInt8])
    /// `salt$iterations$hash`, salt and hash in hexadecimal digits.
    case salted(salt: [UInt8], iterations: Int, hash: [UInt8])

    /// Reads a stored password; nil if it has neither form.
    init?(_ stored: String) {
        let lower = stored.lowercased()
        let parts = lower.split(separator: "$", omittingEmptySubsequences: false)
        if parts.count == 1, let digest = Hexadecimal.decodeLowercase(lower),
            [16, 20, 32, 48, 64].contains(digest.count)
        {
            self = .digest(digest)
            return
        }
        guard parts.count == 3, let salt = Hexadecimal.decodeLowercase(parts[0]), parts[1].utf8.count <= 10,
            parts[1].utf8.allSatisfy(ASCII.isDigit), let iterations = Int(parts[1]),
            let hash = Hexadecimal.decodeLowercase(parts[2]), !hash.isEmpty
        else { return nil }
        self = .salted(salt: salt, iterations: iterations, hash: hash)
    }

    private static let algorithmNames: Set<UTF8Text> = [
        "argon2", "argon2d", "argon2i", "argon2id", "bcrypt", "crypt", "md4", "md5", "pbkdf2", "pbkdf2sha1",
        "pbkdf2sha256", "pbkdf2sha512", "scrypt", "sha", "sha1",
        "sha224", "sha256", "sha384", "sha512", "smd5", "ssha", "ssha224", "ssha256", "ssha384", "ssha512",
    ]

    /// True if a text looks like a hash of any program, even if it is damaged: the hash must not become a password in clear
    /// text, because everybody who has seen the file could sign in with it.
    static func looksLikeHash(_ stored: String) -> Bool {
        var text = stored.utf8.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        // One digit less than MD5 has.
        if text.count >= 31, text.allSatisfy({ Hexadecimal.value(of: $0) != nil }) { return true }
        if text.count(where: { $0 == UInt8(ascii: "$") }) >= 2 { return true }
        if text.first == UInt8(ascii: "{"), text.contains(UInt8(ascii: "}")) { return true }
        // Such as `sha1:salt:hash`.
        let name = text.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "$") }
        guard name.count <= 16, name.endIndex < text.endIndex else { return false }
        let letters = name.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(ASCII.lowercased)
        return algorithmNames.contains(UTF8Text(repairing: letters.span))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
