// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm whose users are read from a file, such as a password file of another program.
///
/// `gatehouse user import` makes a realm of this kind of the file that it is given, and copies its users into another
/// realm.
public protocol UserFileRealm: ManagedRealm {
    /// The properties of a realm that reads a file.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - groupFile: The path of a file with the groups of the users; nil if there is none.
    /// - Returns: The values by the names of ``Realm/properties``.
    static func propertyValues(file: String, groupFile: String?) -> [String: PropertyValue]

    /// The problems of single lines, each with file and line: a line that is not read, or a user of it who cannot sign
    /// in.
    var lineWarnings: [String] { get }

    /// The problems of a file as a whole, such as a mode that lets other users of the machine read it.
    var fileWarnings: [String] { get }
}
