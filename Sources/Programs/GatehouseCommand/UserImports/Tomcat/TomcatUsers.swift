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
            let place = "\(name):\(user.line)"
            let roles = Self.roles(of: user, rolesByGroup: rolesByGroup, inheritedCount: &inheritedCount)
            guard inheritedCount <= Self.maximumInherited else {
                throw BadUserFile("\(place): the users have more than \(Self.maximumInherited) roles of groups in all")
            }
            add(user, place: place, roles: roles, to: &result)
        }
        return result.finished()
    }

    /// Returns the roles of a user without repetitions; at most one more than a user may have.
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

    private func add(_ user: XMLTag, place: String, roles: [String], to result: inout ImportedUsers) {
        guard let name = user["username"] ?? user["name"] else { return }
        var fields = UserFields(place: place, name: name)
        fields.displayName = user["fullName"] ?? user["fullname"]
        fields.groups = roles
        if let stored = user["password"], !stored.isEmpty { fields.password = password(stored) }
        fields.add(to: &result)
    }

    /// The maximum number of roles that the users of a file have by groups.
    ///
    /// A short file could otherwise stand for any number of roles: many users, in many groups, with many roles.
    static let maximumInherited = 10_000_000

    private func password(_ stored: String) -> ImportedUser.Password {
        // Tomcat reads these prefixes only with a handler for digests, but no administrator has such a clear password.
        if ["{MD5}", "{SHA}", "{SSHA}"].contains(where: { stored.utf8.starts(with: $0.utf8) }) { return .hash(stored) }
        let digest = TomcatPassword(stored)
        let looksLikeHash = digest != nil || TomcatPassword.looksLikeHash(stored)
        guard !algorithms.isEmpty else {
            guard !looksLikeHash else {
                let fitting = TomcatAlgorithm.allCases.filter { algorithm in digest.flatMap(algorithm.hash) != nil }
                return .unusable(
                    "the password looks like a hash: give --algorithm with the algorithm of the CredentialHandler in "
                        + "server.xml or context.xml"
                        + (fitting.count == 1 ? ", here \(fitting[0].rawValue)" : "")
                )
            }
            return .clearText(Secret(Array(stored.utf8)))
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
