// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A named property of a user with one or more values, such as a mail address.
///
/// A module commits attributes together with groups. The attributes of a user appear in sessions, in the rules of
/// `protect`, in the header fields for applications and in the middleware. By convention, the names are the names of
/// LDAP: ``mail``, ``displayName``. Source: RFC 4524, RFC 2798.
public struct UserAttribute: Sendable, Hashable {
    /// The maximum length of a name, in bytes.
    public static let maximumNameBytes = 64
    /// The maximum length of a value, in bytes of UTF-8.
    public static let maximumValueBytes = 1024
    /// The maximum number of values.
    public static let maximumValues = 64

    /// The name of the attribute that contains mail addresses: `mail`.
    public static let mail = "mail"
    /// The name of the attribute that contains a name for people to read: `displayName`.
    public static let displayName = "displayName"

    /// The name: ASCII letters, digits, `-`, `.` and `_`.
    public let name: String
    /// The values in the order of the realm, at least one.
    public let values: [String]

    /// Checks the name and the values of an attribute: one to ``maximumValues`` values, not empty, without control characters.
    public init(name: String, values: [String]) throws(BadAttribute) {
        guard Self.isValid(name: name) else { throw BadAttribute("an attribute has no valid name") }
        guard (1...Self.maximumValues).contains(values.count) else {
            throw BadAttribute("attribute \(name) has \(values.count) values, and not 1 to \(Self.maximumValues)")
        }
        for value in values {
            guard (1...Self.maximumValueBytes).contains(value.utf8.count) else {
                throw BadAttribute("attribute \(name) has a value of \(value.utf8.count) bytes")
            }
            guard !value.containsControlCharacter else {
                throw BadAttribute("attribute \(name) has a control character in a value")
            }
        }
        self.name = name
        self.values = values
    }

    init(valid name: String, values: [String]) {
        self.name = name
        self.values = values
    }

    /// Returns whether a text has 1 to ``maximumNameBytes`` bytes, all of them ASCII letters, digits, `-`, `.` or `_`.
    public static func isValid(name: String) -> Bool {
        (1...maximumNameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Compares names and values byte by byte.
    public static func == (left: UserAttribute, right: UserAttribute) -> Bool {
        left.name.hasBytes(of: right.name) && left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.hasBytes(of: $1) }
    }

    /// Hashes the bytes of the name and the values.
    public func hash(into hasher: inout Hasher) {
        name.hashBytes(into: &hasher)
        for value in values { value.hashBytes(into: &hasher) }
    }
}

/// The name or a value of an attribute is not valid.
public struct BadAttribute: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, for the log; it does not contain a value.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension [UserAttribute] {
    /// Returns the values of an attribute, whose name is compared byte by byte; none if there is no such attribute.
    public func values(of name: String) -> [String] { first { $0.name.hasBytes(of: name) }?.values ?? [] }

    /// The values by name, for JSON.
    package var valuesByName: [String: [String]] {
        Dictionary(map { ($0.name, $0.values) }) { first, _ in first }
    }

    /// Adds attributes; an attribute that exists already gets the values that it does not have yet.
    package mutating func merge(_ others: [UserAttribute]) {
        for other in others {
            guard let index = firstIndex(where: { $0.name.hasBytes(of: other.name) }) else {
                append(other)
                continue
            }
            self[index] = UserAttribute(valid: other.name, values: (self[index].values + other.values).uniqued)
        }
    }
}
