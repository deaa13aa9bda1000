// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm whose users are read from a file, such as a password file of another program.
///
/// `gatehouse user import` creates a realm of this kind for its input file, and copies the users into another realm.
public protocol UserFileRealm: ManagedRealm {
    /// The properties of a realm that reads a file.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - groupFile: The path of a file with the groups of the users; nil if there is none.
    /// - Returns: The values by the names of ``Realm/properties``.
    static func propertyValues(file: String, groupFile: String?) -> [String: PropertyValue]

    /// The problems of single lines, each with file name and line number: an ignored line, or a user who cannot sign
    /// in.
    var lineWarnings: [String] { get }

    /// The problems of a file as a whole, such as a file mode that allows other users of the machine to read it.
    var fileWarnings: [String] { get }
}
