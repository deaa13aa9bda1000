// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit
internal import Synchronization

/// A realm whose users stand in a file: a key file of GlassFish, or an htpasswd file of Apache.
///
/// The file is read when the realm is made, and again whenever it has changed; a new state that cannot be used leaves the
/// users there were. A bad line, and a name that stands twice, take nobody else down and let nobody in: see ``warnings``.
/// Changes keep all other lines byte for byte, are there for good when their call returns, and are safe beside other
/// programs that change the file in the same way; see docs/file-realm.md.
///
/// Properties: `jaas-context` (`fileRealm`), `file`, `group-file`, `format` (`auto`, `glassfish`, `htpasswd`), `clear-text`
/// (`false`), `rehash` (`false`). It may be used from any thread. Source: `FileRealm` of GlassFish, `mod_authn_file` and
/// `mod_authz_groupfile` of Apache.
public struct FileRealm: Realm {
    /// `FileRealm` and the name of the one in GlassFish.
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
    /// Makes weak hashes anew; nil where that is switched off.
    let rehasher: Rehasher?

    /// `file`.
    public var authType: String { "file" }

    /// Reads the files.
    ///
    /// - Parameter properties: As the schema declares them. A `RealmLog` among the services gets the ``warnings``; a
    ///   `PasswordService` is needed by the module only.
    /// - Throws: ``BadRealm`` when the file cannot be read or trusted, or its form cannot be told.
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
                "is for htpasswd files only; a GlassFish key file holds the groups itself",
                setting: "group-file"
            )
        }
        let paths = UserFilePaths(file: try properties.string("file"), groupFile: groupFile, rules: rules)
        let log = properties.services[RealmLog.self]
        let files: UserFiles
        do throws(FileFault) {
            files = try UserFiles(paths, log: log, now: now)
        } catch {
            throw Self.fault(error, paths)
        }
        rehasher = try properties.boolean("rehash") ? rules.passwords.map { Rehasher(files, $0, log) } : nil
        (self.files, passwords) = (files, rules.passwords)
    }

    private static func fault(_ fault: FileFault, _ paths: UserFilePaths) -> BadRealm {
        if let groupFile = paths.groupFile, FileStamp(of: paths.file) != nil, FileStamp(of: groupFile) == nil {
            return BadRealm("\(fault); an empty one is made by: (umask 027; touch \(groupFile))", setting: "group-file")
        }
        guard FileStamp(of: paths.file) == nil else { return BadRealm(fault.description, setting: "file") }
        return BadRealm("\(fault); an empty one is made by: (umask 077; touch \(paths.file))", setting: "file")
    }

    /// Lines of the file in use that were left out, and what else is not as it should be, each with file and line.
    public var warnings: [String] { files.table.warnings }

    /// The groups of a user of the file; none for one whose name stands twice.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        await files.look()
        guard let known = files.table[user] else { throw .noSuchUser(user) }
        return known.groups
    }
}

extension FileRealm: RefreshingRealm {
    /// Looks whether the file has changed.
    ///
    /// What has changed is told when the file has rested for a second, or has changed for five, as one that is written in
    /// place may be without users for a moment. A hash that this realm has made anew at a login counts as no change.
    public func refresh() async -> ChangedUsers { await files.refresh() }
}
