// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// The users of Authelia's file back end (`users_database.yml`).
enum AutheliaUsers {
    static func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        do throws(YAMLReader.Fault) {
            let root = try YAMLReader.read(bytes)
            guard let users = try members(of: root, named: "the file").first(where: { $0.key.hasBytes(of: "users") })
            else { throw YAMLReader.Fault(line: root.line, reason: "there is no key users") }
            var result = ImportedUsers()
            guard !users.value.isNull else { return result }
            for user in try members(of: users.value, named: "users") {
                try fields(of: user, place: "\(name):\(user.line)").add(to: &result)
            }
            return result.finished()
        } catch {
            throw BadUserFile("\(name):\(error.line): \(error.reason)")
        }
    }

    private static func members(of node: YAMLNode, named what: String) throws(YAMLReader.Fault) -> [YAMLMember] {
        guard case .mapping(let members, _) = node else {
            throw YAMLReader.Fault(line: node.line, reason: "\(what) must be a mapping: keys with values")
        }
        return members
    }

    /// Reads a user; other keys, such as `given_name`, are ignored.
    private static func fields(of user: YAMLMember, place: String) throws(YAMLReader.Fault) -> UserFields {
        var fields = UserFields(place: place, name: user.key)
        for member in try members(of: user.value, named: "a user") {
            switch UTF8Text(member.key) {
            case "password": fields.password = try password(member.value)
            case "displayname": fields.displayName = try text(member.value)
            case "email": fields.mail = try text(member.value)
            case "groups": fields.groups = try list(member.value)
            case "disabled": fields.isEnabled = try !boolean(member.value)
            case _: break
            }
        }
        return fields
    }

    private static func password(_ node: YAMLNode) throws(YAMLReader.Fault) -> ImportedUser.Password {
        guard let text = try text(node), !text.isEmpty else { return .none }
        return .hash(text)
    }

    private static func text(_ node: YAMLNode) throws(YAMLReader.Fault) -> String? {
        guard case .scalar(let text, _, _) = node else {
            throw YAMLReader.Fault(line: node.line, reason: "a text is expected here")
        }
        return node.isNull ? nil : text
    }

    private static func list(_ node: YAMLNode) throws(YAMLReader.Fault) -> [String] {
        if node.isNull { return [] }
        guard case .list(let items, _) = node else {
            throw YAMLReader.Fault(line: node.line, reason: "a list is expected here")
        }
        var texts: [String] = []
        var seen: Set<UTF8Text> = []
        for item in items {
            guard let text = try text(item) else {
                throw YAMLReader.Fault(line: item.line, reason: "a text is expected here")
            }
            if seen.insert(UTF8Text(text)).inserted { texts.append(text) }
        }
        return texts
    }

    /// Reads true or false, in all spellings of YAML 1.1, which Authelia's library accepts too.
    private static func boolean(_ node: YAMLNode) throws(YAMLReader.Fault) -> Bool {
        if node.isNull { return false }
        guard case .scalar(let text, true, _) = node else {
            throw YAMLReader.Fault(line: node.line, reason: "true or false is expected here, without quotes")
        }
        switch UTF8Text(text) {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y": return true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N": return false
        case _: throw YAMLReader.Fault(line: node.line, reason: "true or false is expected here")
        }
    }
}
