// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import LibC
internal import RealmKit

struct UserFileSettings: Sendable {
    let file: String
    let groupFile: String?
    var attributeFile: String?
    let readOptions: ReadOptions

    /// The file of the users, the group file and the attribute file.
    var paths: [String] { [file, groupFile, attributeFile].compactMap(\.self) }

    func stamps() -> [FileStamp?] { paths.map { FileStamp(of: $0) } }
}

/// The files as they were at one moment, and their users.
struct UserFilesVersion: Sendable {
    /// In the order of ``UserFileSettings/paths``.
    let files: [FileSnapshot]
    let table: UserTable
    /// False for an empty file, in which no format is detected, unless it is configured.
    let hasFormat: Bool

    /// The file of the users.
    var file: FileSnapshot { files[0] }
    var stamps: [FileStamp?] { files.map(\.stamp) }

    /// About owners and modes, and then about the contents.
    var warnings: [String] { files.flatMap(\.trustWarnings) + table.warnings }

    /// Returns whether a file was changed so recently that its stamp may stay the same after another change.
    func isUnsettled(at moment: Int) -> Bool { files.contains { $0.stamp.isUnsettled(at: moment) } }

    /// Returns whether the last line has no line end, unlike that of the old version, so that a file looks unfinished.
    func looksUnfinished(after old: UserFilesVersion) -> Bool {
        zip(files, old.files).contains { $0.bytes.last != 0x0A && $1.bytes.last == 0x0A }
    }

    func hasContents(of others: [FileSnapshot]) -> Bool { zip(files, others).allSatisfy { $0.bytes == $1.bytes } }

    /// Reads the files as they are at one moment; throws if other users of the machine may change them.
    ///
    /// A detected format must stay that of the previous version, and its unchanged hashes are not parsed again.
    init(reading settings: UserFileSettings, after previous: UserFilesVersion?) throws(FileFault) {
        var attempts = 0
        while true {
            do throws(FileFault) {
                var files = [try FileSnapshot(reading: settings.file, as: .passwordHashes)]
                for path in settings.paths.dropFirst() { files.append(try FileSnapshot(reading: path)) }
                // If the first file is unchanged after the others were read, all contents are from the same moment.
                guard files.count == 1 || FileStamp(of: settings.file) == files[0].stamp else {
                    throw FileFault("\(settings.file): it is being written")
                }
                try self.init(files, settings: settings, after: previous)
                return
            } catch {
                attempts += 1
                guard attempts < 10, error.description.hasSuffix("it is being written") else { throw error }
                usleep(1000)
            }
        }
    }

    private init(
        _ files: [FileSnapshot],
        settings: UserFileSettings,
        after previous: UserFilesVersion?
    ) throws(FileFault) {
        self.files = files
        if let previous, previous.hasContents(of: files) {
            (table, hasFormat) = (previous.table, previous.hasFormat)
            return
        }
        let (path, options) = (settings.file, settings.readOptions)
        let bytes = try files[0].text()
        let lines = TextLine.lines(of: bytes)
        let format = try Self.format(of: bytes, lines: lines, settings: settings, after: previous)
        hasFormat = format != nil
        let presumed = format ?? (settings.groupFile == nil ? .glassfish : .htpasswd)
        guard settings.groupFile == nil || presumed == .htpasswd else {
            throw FileFault("\(path): it is a GlassFish key file, which contains the groups itself; remove group-file")
        }
        let isEmpty = lines.allSatisfy { bytes.trimmed($0.content).isEmpty }
        var lineWarnings: [String] = []
        var groups: [UTF8Text: [String]]? = presumed == .htpasswd ? [:] : nil
        if let path = settings.groupFile {
            let read = GroupFile(try files[1].text())
            groups = read.groupsByUser(options.key)
            lineWarnings += read.malformedLines.map { $0.warning(path) }
        }
        var attributes: [UTF8Text: [UserAttribute]] = [:]
        if let path = settings.attributeFile {
            let read = AttributeFile(try files[files.count - 1].text())
            attributes = read.attributesByUser(options.key)
            lineWarnings += read.malformedLines.map { $0.warning(path) }
        }
        table = UserTable(
            bytes,
            lines: lines,
            reader: UserLineReader(format: presumed, groups: groups, attributes: attributes, readOptions: options),
            path: path,
            fileWarnings: isEmpty ? ["\(path): it is empty, so no user can sign in"] : [],
            lineWarnings: lineWarnings,
            reusing: previous?.table
        )
    }

    private static func format(
        of bytes: [UInt8],
        lines: [TextLine],
        settings: UserFileSettings,
        after previous: UserFilesVersion?
    ) throws(FileFault) -> KeyFileFormat? {
        if let format = settings.readOptions.format { return format }
        var detection = KeyFileFormat.Detection(path: settings.file)
        try detection.read(bytes, lines: lines)
        guard let previous, previous.hasFormat else { return detection.format }
        let known = previous.table.format
        guard let found = detection.format, found != known else { return known }
        throw FileFault("\(settings.file): it is \(found.name) now, and was \(known.name)")
    }
}

/// A whole file as it was read.
struct FileSnapshot: Sendable {
    /// The name that was given, for messages.
    let name: String
    /// With links resolved.
    let path: String
    let bytes: [UInt8]
    let status: FileStatus
    /// About the owner and the mode of the file and of the folders above it.
    let trustWarnings: [String]

    var stamp: FileStamp { status.stamp }

    /// Reads a file; throws if every user of the machine may change it.
    init(reading name: String, as use: FileTrust.Use = .users) throws(FileFault) {
        self.name = name
        path = try FileFault.resolve(name)
        do throws(UnreadableFile) {
            let (file, status) = try OpenFile.regular(path)
            self.status = status
            trustWarnings = try FileTrust.check(name, as: use, opened: status)
            bytes = try file.contents(of: status, limit: 64 << 20)
            // A file that was replaced during the read has lost its name, which changes its ctime, but not its contents.
            let after = try SystemError.mapping(file.status(), to: UnreadableFile.system)
            let isSame = after.linkCount == 0 && after.stamp.modified == status.stamp.modified
            guard after.stamp == status.stamp || isSame else { throw UnreadableFile.beingWritten }
        } catch {
            throw FileFault(name, unreadable: error)
        }
    }

    /// Returns the bytes; throws if they are not text.
    func text() throws(FileFault) -> [UInt8] {
        try TextLine.checkText(bytes, path: name)
        return bytes
    }

    /// True if this process may replace the file.
    var isReplaceable: Bool {
        guard geteuid() == 0 || geteuid() == status.owner else { return false }
        return unsafe faccessat(AT_FDCWD, FilePath.split(path).folder, W_OK | X_OK, AT_EACCESS) == 0
    }
}

extension FileFault {
    /// Returns the path of a file with links resolved.
    static func resolve(_ name: String) throws(FileFault) -> String {
        try SystemError.mapping(FilePath.resolve(name)) { FileFault(name, because: $0) }
    }
}

extension RealmError {
    /// Creates the error of a call that has thrown one of a realm, or one of the file of this name.
    init(of error: any Error, name: String) {
        self =
            error as? RealmError ?? .unavailable(error is FileFault ? "\(error)" : "\(name): \(error)")
    }
}
