// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit
internal import Synchronization

/// A realm whose users are in a file: a key file of GlassFish, or an htpasswd file of Apache.
///
/// The file is read when the realm is created, and again whenever it has changed. If a new version of the file cannot
/// be used, the previous users stay. Users on a malformed line, or with a name that occurs twice, cannot sign in; other
/// users are not affected: see ``warnings``. A change keeps all other lines byte for byte, is on the disk when the call
/// returns, and is safe beside other programs that change the file in the same way; see docs/file-realm.md.
///
/// Properties: `jaas-context` (`fileRealm`), `file`, `group-file`, `format` (`auto`, `glassfish`, `htpasswd`), `clear-text`
/// (`false`), `rehash` (`false`). It may be used from any thread. Source: `FileRealm` of GlassFish, `mod_authn_file` and
/// `mod_authz_groupfile` of Apache.
public struct FileRealm: Realm {
    /// `FileRealm` and the name of GlassFish's realm.
    public static let classNames = ["FileRealm", "com.sun.enterprise.security.auth.realm.file.FileRealm"]

    /// The properties listed above.
    public static let properties: PropertySchema = [
        .jaasContext(default: "fileRealm"),
        .required("file", .path),
        .optional("group-file", .path),
        Property("format", .choice(["auto", "glassfish", "htpasswd"]), default: "auto"),
        Property("clear-text", .boolean, default: "false"),
        Property("rehash", .boolean, default: "false"),
    ]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    let files: UserFiles
    let passwords: PasswordService?
    /// Replaces weak hashes; nil if `rehash` is off.
    let rehasher: Rehasher?

    /// `file`.
    public var authType: String { "file" }

    /// Reads the files.
    ///
    /// - Parameter properties: The properties of the schema. A `RealmLog` among the services receives the ``warnings``;
    ///   only the module needs a `PasswordService`.
    /// - Throws: ``BadRealm`` if the file cannot be read or trusted, or its form cannot be detected.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        try self.init(properties, now: FileStamp.systemNow)
    }

    init(
        _ properties: RealmProperties,
        now: @escaping @Sendable () -> Int
    ) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        var rules = ReadingRules()
        rules.form = KeyFileForm(rawValue: try properties.string("format"))
        rules.allowsClearText = try properties.boolean("clear-text")
        rules.passwords = properties.services[PasswordService.self]
        let groupFile = properties.has("group-file") ? try properties.string("group-file") : nil
        guard groupFile == nil || rules.form != .glassfish else {
            throw BadRealm(
                "is for htpasswd files only; a GlassFish key file contains the groups itself",
                setting: "group-file"
            )
        }
        let paths = UserFilePaths(file: try properties.string("file"), groupFile: groupFile, rules: rules)
        let log = properties.services[RealmLog.self]
        let files: UserFiles
        do throws(FileFault) {
            files = try UserFiles(paths, log: log, now: now)
        } catch {
            throw Self.fault(error, paths: paths)
        }
        rehasher =
            try properties.boolean("rehash") ? rules.passwords.map { Rehasher(files, passwords: $0, log: log) } : nil
        (self.files, passwords) = (files, rules.passwords)
    }

    private static func fault(_ fault: FileFault, paths: UserFilePaths) -> BadRealm {
        if let groupFile = paths.groupFile, FileStamp(of: paths.file) != nil, FileStamp(of: groupFile) == nil {
            return BadRealm(
                "\(fault); create an empty one with: (umask 027; touch \(groupFile))",
                setting: "group-file"
            )
        }
        guard FileStamp(of: paths.file) == nil else { return BadRealm(fault.description, setting: "file") }
        return BadRealm("\(fault); create an empty one with: (umask 077; touch \(paths.file))", setting: "file")
    }

    /// Warnings about lines that are ignored and other problems of the file in use, each with file and line.
    public var warnings: [String] { files.table.warnings }

    /// Returns the groups of a user of the file; none if the name occurs twice.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        await files.reload()
        guard let known = files.table[user] else { throw .noSuchUser(user) }
        return known.groups
    }
}

extension FileRealm: RefreshingRealm {
    /// Checks whether the file has changed.
    ///
    /// Changes are reported when the file has not changed for one second, or has kept changing for five: a file that is
    /// written in place may have no users for a moment. A hash that this realm has replaced after a login is not a
    /// change.
    public func refresh() async -> ChangedUsers { await files.refresh() }
}
