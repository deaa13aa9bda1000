// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Yams

/// The users of Authelia's file back end (`users_database.yml`).
///
/// Yams reads with libyaml, and Authelia with the translation of libyaml to Go, so both accept the same files.
struct AutheliaUsers {
    private struct Member {
        let key: String
        let line: Int
        let value: Node
    }

    /// The maximum number of values, counted again at every alias: a short file could stand for any number of values.
    static let maximumValues = 10_000_000
    /// The maximum number of aliases: the destruction of values that contain each other takes as many levels of the stack.
    static let maximumAliases = 10_000
    private static let maximumMerges = 4

    /// The name of the file.
    private let name: String
    private var valueCount = 0

    static func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        var reader = AutheliaUsers(name: name)
        return try reader.users(of: bytes)
    }

    private init(name: String) { self.name = name }

    private mutating func users(of bytes: [UInt8]) throws(BadUserFile) -> ImportedUsers {
        var result = ImportedUsers()
        let (root, next) = try documents(bytes)
        // Authelia reads the first document.
        if let next { result.omit("documents after the first", at: "\(name):\(Self.line(next))") }
        let top = try members(of: root, named: "the file")
        guard let users = top.first(where: { $0.key.hasBytes(of: "users") })?.value else {
            throw fault(root, "there is no key users")
        }
        guard !Self.isNull(users) else { return result }
        for user in try members(of: users, named: "users") {
            try fields(of: user, place: "\(name):\(user.line)").add(to: &result)
        }
        return result.finished()
    }

    // MARK: Documents

    private func documents(_ bytes: [UInt8]) throws(BadUserFile) -> (first: Node, second: Node?) {
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw fault(line: BadUserFile.lineOfBadUTF8(in: bytes), "it is not UTF-8")
        }
        let aliases = zip(bytes, bytes.dropFirst()).count { $1 == UInt8(ascii: "*") && " \t\n[{,:".utf8.contains($0) }
        guard aliases <= Self.maximumAliases else { throw fault(line: 1, "more than \(Self.maximumAliases) aliases") }
        // Yams keeps a pointer to the bytes of the text, which a text of up to 15 bytes does not have in memory of its own.
        if text.utf8.count < 16 { text += String(repeating: "\n", count: 16) }
        do {
            let parser = try Parser(yaml: text, resolver: .basic, constructor: .default, encoding: .utf8)
            guard let first = try parser.nextRoot() else { throw fault(line: 1, "it is empty") }
            return (first, try parser.nextRoot())
        } catch let error as BadUserFile {
            throw error
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ error: any Error) -> BadUserFile {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            fault(line: mark.line, problem)
        case .reader(let problem, let offset, _, let text):
            fault(line: text.prefix(offset ?? 0).count(where: \.isNewline) + 1, problem)
        case .duplicatedKeysInMapping(let keys, let context):
            fault(line: context.mark.line, "the key \((keys.first ?? "").debugDescription) occurs twice")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded, nil:
            fault(line: 1, "it is not YAML")
        }
    }

    private func fault(line: Int, _ reason: String) -> BadUserFile { BadUserFile("\(name):\(line): \(reason)") }

    private func fault(_ node: Node, _ reason: String) -> BadUserFile { fault(line: Self.line(node), reason) }

    private static func line(_ node: Node) -> Int { node.mark?.line ?? 1 }

    // MARK: Values

    /// The members of a mapping, and after them those of the mappings that it merges by `<<`.
    private mutating func members(of node: Node, named what: String, merges: Int = 0) throws(BadUserFile) -> [Member] {
        guard case .mapping(let mapping) = node else {
            throw fault(node, "\(what) must be a mapping: keys with values")
        }
        var members: [Member] = []
        var merged: [Node] = []
        for (key, value) in mapping {
            try count(key)
            guard case .scalar(let name) = key else { throw fault(key, "a key must be a text") }
            if name.style == .plain, name.string.hasBytes(of: "<<") {
                merged += value.sequence.map(Array.init) ?? [value]
            } else {
                members.append(Member(key: name.string, line: Self.line(key), value: value))
            }
        }
        guard !merged.isEmpty else { return members }
        guard merges < Self.maximumMerges else {
            throw fault(node, "more than \(Self.maximumMerges) merges in each other")
        }
        var keys = Set(members.map { UTF8Text($0.key) })
        for mapping in merged {
            for member in try self.members(of: mapping, named: "a merged value", merges: merges + 1)
            where keys.insert(UTF8Text(member.key)).inserted {
                members.append(member)
            }
        }
        return members
    }

    private mutating func count(_ node: Node) throws(BadUserFile) {
        valueCount += 1
        guard valueCount <= Self.maximumValues else {
            throw fault(node, "more than \(Self.maximumValues) values, with those of aliases")
        }
    }

    /// Reads a user; other keys, such as `given_name`, are ignored.
    private mutating func fields(of user: Member, place: String) throws(BadUserFile) -> UserFields {
        var fields = UserFields(place: place, name: user.key)
        for member in try members(of: user.value, named: "a user") {
            switch UTF8Text(member.key) {
            case "password":
                if let hash = try text(member.value), !hash.isEmpty { fields.password = .hash(hash) }
            case "displayname": fields.displayName = try text(member.value)
            case "email": fields.mail = try text(member.value)
            case "groups": fields.groups = try list(member.value)
            case "disabled": fields.isEnabled = try !boolean(member.value)
            case _: break
            }
        }
        return fields
    }

    private static func isNull(_ node: Node) -> Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains { scalar.string.hasBytes(of: $0) }
    }

    private func text(_ node: Node) throws(BadUserFile) -> String? {
        guard case .scalar(let scalar) = node else { throw fault(node, "a text is expected here") }
        return Self.isNull(node) ? nil : scalar.string
    }

    private mutating func list(_ node: Node) throws(BadUserFile) -> [String] {
        if Self.isNull(node) { return [] }
        guard case .sequence(let items) = node else { throw fault(node, "a list is expected here") }
        var names = NameList()
        for item in items {
            try count(item)
            guard let text = try self.text(item) else { throw fault(item, "a text is expected here") }
            names.insert(text)
        }
        return names.names
    }

    /// Reads true or false, in all spellings of YAML 1.1, which Authelia's library accepts too.
    private func boolean(_ node: Node) throws(BadUserFile) -> Bool {
        guard let text = try self.text(node) else { return false }
        switch UTF8Text(text) {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y": return true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N": return false
        case _: throw fault(node, "true or false is expected here")
        }
    }
}
