// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import Glibc
internal import RealmKit

struct UserFileSettings: Sendable {
    let file: String
    let groupFile: String?
    var attributeFile: String?
    let readOptions: ReadOptions

    func stamps() -> [FileStamp?] {
        ([file] + [groupFile, attributeFile].compactMap(\.self)).map { FileStamp(of: $0) }
    }
}

struct UserFilesVersion: Sendable {
    let file: FileSnapshot
    let groupFile: FileSnapshot?
    let attributeFile: FileSnapshot?
    let table: UserTable
    /// False for an empty file, in which no format is detected, unless it is configured.
    let hasFormat: Bool

    var stamps: [FileStamp?] { [file, groupFile, attributeFile].compactMap { $0?.stamp } }

    /// About owners and modes, and then about the contents.
    var warnings: [String] {
        [file, groupFile, attributeFile].compactMap(\.self).flatMap(\.trustWarnings) + table.warnings
    }

    /// Returns whether a file was changed so recently that its stamp may stay the same after another change.
    func isUnsettled(at moment: Int) -> Bool { stamps.contains { $0?.isUnsettled(at: moment) ?? false } }

    /// True if this process may replace all of the files.
    var isReplaceable: Bool {
        [file, groupFile, attributeFile].compactMap(\.self).allSatisfy { $0.permissions.isReplaceable(in: $0.folder) }
    }

    /// Reads the files as they are at one moment; throws if other users of the machine may change them.
    ///
    /// A detected format must stay that of the previous version, and its unchanged hashes are not parsed again.
    init(reading settings: UserFileSettings, after previous: UserFilesVersion?) throws(FileFault) {
        var attempts = 0
        while true {
            do throws(FileFault) {
                let file = try FileSnapshot(reading: settings.file, as: .passwordHashes)
                var groupFile: FileSnapshot?
                if let path = settings.groupFile { groupFile = try FileSnapshot(reading: path) }
                var attributeFile: FileSnapshot?
                if let path = settings.attributeFile { attributeFile = try FileSnapshot(reading: path) }
                // If the first file is unchanged after the others were read, all contents are from the same moment.
                guard groupFile == nil && attributeFile == nil || FileStamp(of: settings.file) == file.stamp else {
                    throw FileFault("\(settings.file): it is being written")
                }
                try self.init(
                    file,
                    groupFile: groupFile,
                    attributeFile: attributeFile,
                    settings: settings,
                    after: previous
                )
                return
            } catch {
                attempts += 1
                guard attempts < 10, error.description.hasSuffix("it is being written") else { throw error }
                usleep(1000)
            }
        }
    }

    init(
        _ file: FileSnapshot,
        groupFile: FileSnapshot?,
        attributeFile: FileSnapshot?,
        settings: UserFileSettings,
        after previous: UserFilesVersion?
    ) throws(FileFault) {
        self.file = file
        self.groupFile = groupFile
        self.attributeFile = attributeFile
        if let previous, previous.isUnchanged(file, groupFile: groupFile, attributeFile: attributeFile) {
            (table, hasFormat) = (previous.table, previous.hasFormat)
            return
        }
        try TextLine.checkText(file.bytes, path: settings.file)
        let lines = TextLine.lines(of: file.bytes)
        let format = try Self.format(of: file, lines: lines, settings: settings, after: previous)
        hasFormat = format != nil
        let presumed = format ?? (settings.groupFile == nil ? .glassfish : .htpasswd)
        guard settings.groupFile == nil || presumed == .htpasswd else {
            throw FileFault(
                "\(settings.file): it is a GlassFish key file, which contains the groups itself; remove group-file"
            )
        }
        var warnings: [String] = []
        if !lines.contains(where: { !file.bytes.trimmed($0.content).isEmpty }) {
            warnings.append("\(settings.file): it is empty, so no user can sign in")
        }
        var groupWarnings: [String] = []
        var groups: [UTF8Text: [String]]? = presumed == .htpasswd ? [:] : nil
        if let groupFile, let path = settings.groupFile {
            try TextLine.checkText(groupFile.bytes, path: path)
            let read = GroupFile(groupFile.bytes)
            groups = read.groupsByUser(settings.readOptions.key)
            groupWarnings = read.malformedLines.map { "\(path):\($0.line): the line is ignored: \($0.reason)" }
        }
        var attributes: [UTF8Text: [UserAttribute]] = [:]
        if let attributeFile, let path = settings.attributeFile {
            try TextLine.checkText(attributeFile.bytes, path: path)
            let read = AttributeFile(attributeFile.bytes)
            attributes = read.attributesByUser(settings.readOptions.key)
            groupWarnings += read.malformedLines.map { "\(path):\($0.line): the line is ignored: \($0.reason)" }
        }
        table = UserTable(
            file.bytes,
            lines: lines,
            format: presumed,
            groups: groups,
            attributes: attributes,
            path: settings.file,
            readOptions: settings.readOptions,
            fileWarnings: warnings,
            groupWarnings: groupWarnings,
            reusing: previous?.table
        )
    }

    private static func format(
        of file: FileSnapshot,
        lines: [TextLine],
        settings: UserFileSettings,
        after previous: UserFilesVersion?
    ) throws(FileFault) -> KeyFileFormat? {
        if let format = settings.readOptions.format { return format }
        let found = try KeyFileFormat.detect(file.bytes, lines: lines, path: settings.file)
        guard let previous, previous.hasFormat else { return found }
        guard let found else { return previous.table.format }
        guard found == previous.table.format else {
            throw FileFault("\(settings.file): it is \(found.name) now, and was \(previous.table.format.name)")
        }
        return found
    }

    func isUnchanged(_ file: FileSnapshot, groupFile: FileSnapshot?, attributeFile: FileSnapshot?) -> Bool {
        self.file.bytes == file.bytes && self.groupFile?.bytes == groupFile?.bytes
            && self.attributeFile?.bytes == attributeFile?.bytes
    }

    /// Returns whether the last line has no line end, unlike that of the old version, so that a file looks unfinished.
    func looksUnfinished(after old: UserFilesVersion) -> Bool {
        Self.isUnfinished(file, after: old.file)
            || (groupFile.map { Self.isUnfinished($0, after: old.groupFile) } ?? false)
            || (attributeFile.map { Self.isUnfinished($0, after: old.attributeFile) } ?? false)
    }

    private static func isUnfinished(_ file: FileSnapshot, after old: FileSnapshot?) -> Bool {
        file.bytes.last != 0x0A && old?.bytes.last == 0x0A
    }
}
