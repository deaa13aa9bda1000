// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

struct ImportedUser: Sendable {
    enum Password: Sendable {
        case none
        /// A hash, in a format that the realms read; it is not checked yet.
        case hash(String)
        case clearText(Secret)
        /// A password that cannot be taken over, with the reason.
        case unusable(String)
    }

    /// The place in the file, such as `tomcat-users.xml:3` or `town.json: users[2]`.
    let place: String
    let record: UserRecord
    let password: Password
}

struct ImportedUsers: Sendable {
    /// The users, each name once.
    private(set) var users: [ImportedUser] = []
    /// The first users that cannot be imported, with their places and the reasons.
    private(set) var problems: [String] = []
    /// The number of problems, with those that are not kept.
    private(set) var problemCount = 0
    /// The kinds of parts that are not imported.
    private var omissionsByKind: [Omission] = []

    private struct Omission {
        /// The parts, such as one-time codes.
        let parts: String
        var count = 1
        let firstPlace: String
    }

    /// The maximum number of problems, and of kinds of parts that are not imported.
    static let maximumMessages = 100

    /// The first place of each name, of broken users too.
    private var placeByName: [Username: String] = [:]
    private var rejected: Set<Username> = []

    /// Adds a user; if the name occurs twice, neither user is imported, even if one of them is broken.
    mutating func add(_ user: ImportedUser) {
        let name = user.record.name
        if let first = placeByName[name] {
            addProblem("\(user.place): duplicate user \(name) (also at \(first))")
            rejected.insert(name)
            return
        }
        placeByName[name] = user.place
        users.append(user)
    }

    /// Imports no user of a name.
    mutating func exclude(_ name: Username, at place: String) {
        if placeByName[name] == nil { placeByName[name] = place }
        rejected.insert(name)
    }

    /// Adds a problem; only the first are kept.
    mutating func addProblem(_ problem: @autoclosure () -> String) {
        problemCount += 1
        if problems.count < Self.maximumMessages { problems.append(problem()) }
    }

    /// Adds a part that is not imported, with its kind in the plural.
    mutating func omit(_ parts: String, at place: String) {
        if let index = omissionsByKind.firstIndex(where: { $0.parts.hasBytes(of: parts) }) {
            omissionsByKind[index].count += 1
        } else if omissionsByKind.count < Self.maximumMessages {
            omissionsByKind.append(Omission(parts: parts, firstPlace: place))
        }
    }

    /// The parts that are not imported: a line for each kind.
    var omissions: [String] {
        omissionsByKind.map { omission in
            let place = omission.count == 1 ? "at" : "\(omission.count), the first at"
            return "not imported: \(omission.parts) (\(place) \(omission.firstPlace))"
        }
    }

    /// Removes the users whose names differ in case only, and adds a problem for each, for a realm that ignores case.
    func ignoringCase() -> ImportedUsers {
        var result = self
        var namesByKey: [UTF8Text: [Username]] = [:]
        for name in placeByName.keys { namesByKey[UTF8Text(name.caseFolded), default: []].append(name) }
        var others: [Username: Username] = [:]
        for names in namesByKey.values where names.count > 1 {
            let sorted = names.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
            for name in sorted { others[name] = sorted.first { $0 != name } }
        }
        for user in users {
            let name = user.record.name
            guard let other = others[name] else { continue }
            let also = "also at \(placeByName[other] ?? ""), as \(other); the realm ignores case"
            result.addProblem("\(user.place): duplicate user \(name) (\(also))")
        }
        result.users.removeAll { others[$0.record.name] != nil }
        return result
    }

    /// Removes the users whose names occur twice, or belong to a broken user as well.
    consuming func finished() -> ImportedUsers {
        users.removeAll { rejected.contains($0.record.name) }
        return self
    }
}

struct UserFields {
    let place: String
    let name: String
    var groups: [String] = []
    var isEnabled = true
    var mustChangePassword = false
    var displayName: String?
    var mail: String?
    var password = ImportedUser.Password.none

    static let maximumGroups = 1024

    /// Adds the user, or the reason why the user cannot be imported.
    func add(to users: inout ImportedUsers) {
        let checked: Username
        do throws(BadUsername) {
            checked = try Username(name)
        } catch {
            return users.addProblem("\(place): the user is ignored: \(error)")
        }
        do throws(BadUserFile) {
            users.add(ImportedUser(place: place, record: try record(checked), password: password))
        } catch {
            users.addProblem("\(place): the user \(checked) is ignored: \(error)")
            users.exclude(checked, at: place)
        }
    }

    /// Returns the record of the user; an error is only the reason, without the place.
    private func record(_ name: Username) throws(BadUserFile) -> UserRecord {
        // The rule of `gatehouse user add`: HTTP Basic ends the user name at the first colon (RFC 7617).
        guard !name.text.utf8.contains(UInt8(ascii: ":")) else {
            throw BadUserFile("the user name has a colon, so the user could not sign in with it")
        }
        var attributes: [UserAttribute] = []
        for (attribute, value) in [(UserAttribute.displayName, displayName), (UserAttribute.mail, mail)] {
            guard let value, !value.isEmpty else { continue }
            do throws(BadAttribute) {
                attributes.append(try UserAttribute(name: attribute, values: [value]))
            } catch {
                throw BadUserFile("\(attribute): \(error)")
            }
        }
        guard groups.count <= Self.maximumGroups else { throw BadUserFile("more than \(Self.maximumGroups) groups") }
        guard groups.allSatisfy(GroupName.isUsable) else {
            throw BadUserFile("a group's name is empty, has more than 1024 bytes, or contains control characters")
        }
        return UserRecord(
            name,
            groups: groups,
            isEnabled: isEnabled,
            mustChangePassword: mustChangePassword,
            attributes: attributes
        )
    }
}

/// Names of groups or roles, each once.
struct NameList {
    private(set) var names: [String] = []
    private var seen: Set<UTF8Text> = []

    mutating func insert(_ name: String) {
        // One name more than the maximum shows that there are too many.
        guard names.count <= UserFields.maximumGroups, seen.insert(UTF8Text(name)).inserted else { return }
        names.append(name)
    }

    /// Adds the names of a list with commas.
    mutating func insert(list: String?) {
        for part in (list ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            var name = part.drop { $0 == 0x20 }
            while name.last == 0x20 { name = name.dropLast() }
            if !name.isEmpty { insert(String(Substring(name))) }
        }
    }
}

/// The error for a file that is not in the format of its product, with its place, or for a user in it.
struct BadUserFile: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The number of the first line that is not UTF-8.
    static func lineOfBadUTF8(in bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return lines.prefix { String(validating: $0, as: UTF8.self) != nil }.count + 1
    }
}
