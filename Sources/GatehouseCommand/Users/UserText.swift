// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Foundation
internal import RealmKit
internal import TerminalIO

/// Users as a person reads them, and as a program does.
enum UserText {
    static func table(_ users: [UserRecord]) -> String {
        guard !users.isEmpty else { return "there are no users" }
        let rows = users.map { user in
            [user.name.text, state(user), user.format ?? "no password", user.groups.joined(separator: " ")]
        }
        return Table.lines([["user", "state", "password", "groups"]] + rows).joined(separator: "\n")
    }

    static func sheet(_ user: UserRecord) -> String {
        Table.lines([
            ["user", user.name.text], ["state", state(user)], ["password", user.format ?? "no password"],
            ["groups", user.groups.joined(separator: " ")],
        ]).joined(separator: "\n")
    }

    static func json(_ users: [UserRecord]) -> String {
        users.isEmpty ? "[]" : "[\n" + users.map(json).joined(separator: ",\n") + "\n]"
    }

    static func json(_ user: UserRecord) -> String {
        let value = JSONUser(
            user: user.name.text,
            groups: user.groups,
            enabled: user.isEnabled,
            expires: user.expiry,
            mustChangePassword: user.mustChangePassword,
            password: user.format
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return escaped(String(decoding: try encoder.encode(value), as: UTF8.self)) } catch { return "{}" }
    }

    /// JSON in which what could do something to a terminal is written as `\u....`.
    private static func escaped(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard Printable.line(String(scalar)) != String(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            // All of them are in the basic plane.
            result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
        }
        return String(result)
    }

    private struct JSONUser: Encodable {
        let user: String
        let groups: [String]
        let enabled: Bool
        let expires: Int?
        let mustChangePassword: Bool
        let password: String?
    }

    private static func state(_ user: UserRecord) -> String {
        var words = [user.isEnabled ? "enabled" : "disabled"]
        if user.mustChangePassword { words.append("must change password") }
        if let expiry = user.expiry { words.append("until \(Day.last(before: expiry))") }
        return words.joined(separator: ", ")
    }
}

/// Days of the calendar, in UTC.
enum Day {
    /// The moment after the last of a day, in seconds since 1970.
    static func end(of text: String) throws(ActionFault) -> Int {
        do {
            let day = try Date(text, strategy: style)
            guard day.formatted(style) == text else {
                throw ActionFault(.usage, "a day is written as in 2027-01-31, not \(Printable.line(text))")
            }
            return Int(day.timeIntervalSince1970) + 86_400
        } catch {
            throw ActionFault(.usage, "a day is written as in 2027-01-31, not \(Printable.line(text))")
        }
    }

    /// The last day before a moment.
    static func last(before moment: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(moment - 1)).formatted(style)
    }

    private static let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
}
