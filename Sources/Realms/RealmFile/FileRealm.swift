// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import OpenSSLKit
internal import Passwords
package import RealmKit
internal import Synchronization

/// A realm whose users are in a key file of GlassFish or an htpasswd file of Apache.
///
/// The file is read when the realm is created, and again after each change. If a new version of the file cannot be
/// used, the realm keeps the previous users. A user on a malformed line, or on several lines, cannot sign in;
/// ``warnings`` lists these lines. Other users are not affected.
///
/// A change made by the realm keeps all other lines byte for byte. It is on the disk when the call returns. Other
/// programs may change the file at the same time if they use the same lock; see docs/realms/file.md.
///
/// Properties: `jaas-context` (`fileRealm`), `file`, `group-file`, `attribute-file`, `format` (`auto`, `glassfish`,
/// `htpasswd`), `case-sensitive` (`true`), `clear-text` (`false`), `rehash` (`false`), `truncated-passwords` (`false`).
/// It may be used from any thread. The models are `FileRealm` of GlassFish, and `mod_authn_file` and
/// `mod_authz_groupfile` of Apache.
package struct FileRealm: Realm {
    package static let classNames = ["FileRealm", "com.sun.enterprise.security.auth.realm.file.FileRealm"]

    package static let properties: PropertySchema = [
        .jaasContext(default: "fileRealm"),
        .required("file", .path).naming(.passwordHashes),
        .optional("group-file", .path).naming(.users),
        .optional("attribute-file", .path).naming(.users),
        Property("format", .choice(["auto", "glassfish", "htpasswd"]), default: "auto"),
        Property("case-sensitive", .boolean, default: "true"),
        Property("clear-text", .boolean, default: "false"),
        Property("rehash", .boolean, default: "false"),
        Property("truncated-passwords", .boolean, default: "false"),
    ]

    package let jaasContext: String
    let files: UserFiles
    let passwords: PasswordService?
    /// Nil if `rehash` is off.
    let rehasher: Rehasher?

    package var authType: String { "file" }

    /// Reads the files; throws if a file cannot be read, other users of the machine may change it, or its format cannot be
    /// detected.
    ///
    /// A `PasswordService` is needed to check passwords, but not to create the realm.
    package init(_ properties: RealmProperties) throws(BadRealm) { try self.init(properties, now: FileStamp.systemNow) }

    init(_ properties: RealmProperties, now: @escaping @Sendable () -> Int) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        var readOptions = ReadOptions()
        readOptions.format = KeyFileFormat(rawValue: try properties.string("format"))
        readOptions.isCaseSensitive = try properties.boolean("case-sensitive")
        readOptions.allowsClearText = try properties.boolean("clear-text")
        let rehashes = try properties.boolean("rehash")
        readOptions.acceptsTruncated = try properties.boolean("truncated-passwords")
        guard rehashes || !readOptions.acceptsTruncated else {
            throw BadRealm("needs rehash true, so that such a hash is replaced", setting: "truncated-passwords")
        }
        readOptions.passwords = properties.services[PasswordService.self]
        let groupFile = try properties.optional("group-file")
        guard groupFile == nil || readOptions.format != .glassfish else {
            let problem = "is for htpasswd files only; a GlassFish key file contains the groups itself"
            throw BadRealm(problem, setting: "group-file")
        }
        let settings = UserFileSettings(
            file: try properties.string("file"),
            groupFile: groupFile,
            attributeFile: try properties.optional("attribute-file"),
            readOptions: readOptions
        )
        let log = properties.services[RealmLog.self]
        let files = try Result { () throws(FileFault) in try UserFiles(settings, log: log, now: now) }
            .mapError { Self.fault($0, settings: settings) }.get()
        (self.files, passwords) = (files, readOptions.passwords)
        rehasher = rehashes ? passwords.map { Rehasher(files, passwords: $0, log: log) } : nil
    }

    private static func fault(_ fault: FileFault, settings: UserFileSettings) -> BadRealm {
        let files = [
            ("file", settings.file), ("group-file", settings.groupFile), ("attribute-file", settings.attributeFile),
        ]
        for case (let setting, let path?) in files where FileStamp(of: path) == nil {
            let mask = setting == "file" ? "077" : "027"
            let hint = "create an empty one with: (umask \(mask); touch \(path))"
            return BadRealm(fault.description, setting: setting, hint: hint)
        }
        return BadRealm(fault.description, setting: "file")
    }

    /// The warnings about ignored lines and other problems of the file in use, each with file and line.
    package var warnings: [String] { files.table.warnings }

    package func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await known(user).attributes
    }

    /// Returns the groups of a user of the file; an empty list if the name occurs on several lines.
    package func groupNames(of user: Username) async throws(RealmError) -> [String] {
        try await known(user).groups
    }

    private func known(_ user: Username) async throws(RealmError) -> FileUser {
        await files.reload()
        guard let known = files.table[user] else { throw .noSuchUser(user) }
        return known
    }
}

extension FileRealm: RefreshingRealm {
    /// Checks whether the file has changed.
    ///
    /// A change is reported when the file has not changed for one second, or five seconds after the change at the
    /// latest. A file that is written in place may be empty for a moment, and its users must then not be reported as
    /// changed. A hash that this realm has replaced after a login is not reported.
    package func refresh() async -> ChangedUsers { await files.refresh() }

    /// Returns whether the user may sign in, with a stamp of the hash, the groups and the attributes.
    ///
    /// The state is unknown while the file cannot be used.
    package func state(of user: Username) async -> UserState {
        await files.reload()
        let (table, fault) = files.state.withLock { ($0.version.table, $0.fault) }
        guard fault == nil else { return .unknown }
        guard let known = table[user], known.usablePassword != nil else { return .gone }
        do throws(OpenSSLError) {
            // The stamp contains the class, so that sessions end if a realm of another class gets the same name.
            // No name of a group is U+001F. A user without attributes has the same stamp as in earlier versions.
            let attributes = known.attributes.flatMap { ["\u{1F}", $0.name] + $0.values }
            let fields = ["FileRealm", known.stored] + known.groups + attributes
            return .present(SecurityStamp(try Digest.sha256(fields: fields).bytes))
        } catch {
            files.log?("\(files.settings.file): \(error)", .error)
            return .unknown
        }
    }
}

extension FileRealm: SummarizedRealm {
    /// The number of hashes that cover only the first 72 bytes of a password.
    package var summary: [String] {
        let settings = files.settings.readOptions
        let count = files.table.users.count { ($0.usablePassword?.hash.truncatesAfter).map { $0 >= 64 } ?? false }
        guard count > 0, !settings.acceptsTruncated else { return [] }
        let users = count == 1 ? "1 user has a bcrypt hash" : "\(count) users have bcrypt hashes"
        return ["\(users): a password of more than 72 bytes is refused"]
    }
}
