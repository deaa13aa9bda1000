// SPDX-License-Identifier: Apache-2.0

/// A realm whose users are read from a file, such as a password file of another program.
///
/// `gatehouse user import` reads its input file by a realm of this kind, and copies the users into another realm.
public protocol UserFileRealm: ManagedRealm {
    /// Reads and checks a file completely, and a file with the groups of the users if there is one.
    ///
    /// The file may be larger than a file that the realm reads for logins. It blocks its thread. Without the name of a
    /// format, the format is detected. If case is ignored, names that differ in case only are names of one user. The
    /// services of the program have the limits of password checks, for example. From time to time `progress` is called
    /// with the percentage of the file that was read.
    ///
    /// - Returns: The users and the problems of the file.
    /// - Throws: ``RealmError`` if the file cannot be read, other users of the machine may change it, or its format
    ///   cannot be detected.
    static func checkFile(
        _ file: String,
        groupFile: String?,
        format: String?,
        ignoringCase ignoresCase: Bool,
        services: RealmServices,
        progress: (Int) -> Void
    ) throws(RealmError) -> CheckedUserFile
}

/// A file of users that was checked.
public struct CheckedUserFile: Sendable {
    /// The users, without the users that ``lineWarnings`` reports as ignored or ambiguous.
    ///
    /// Reading them throws if the file has changed since the check.
    public let users: any UserSource
    /// The problems of the file as a whole, such as a file mode that allows other users of the machine to read it.
    public let fileWarnings: [String]
    /// The first problems of single lines, each with file name and line number: an ignored line, or a user who could
    /// not sign in.
    public let lineWarnings: [String]
    /// The number of all problems of single lines.
    public let lineWarningCount: Int

    /// The maximum number of ``lineWarnings``.
    public static let maximumWarnings = 20

    /// Creates a result.
    public init(users: any UserSource, fileWarnings: [String], lineWarnings: [String], lineWarningCount: Int) {
        self.users = users
        self.fileWarnings = fileWarnings
        self.lineWarnings = lineWarnings
        self.lineWarningCount = lineWarningCount
    }
}
