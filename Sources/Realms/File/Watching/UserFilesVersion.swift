// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmKit

/// The files of users and groups, with the rules by which they are read.
struct UserFilePaths: Sendable {
    let file: String
    let groupFile: String?
    let rules: ReadingRules

    /// Returns the stamps of the files without reading them.
    func stamps() -> [FileStamp?] {
        [FileStamp(of: file)] + (groupFile.map { [FileStamp(of: $0)] } ?? [])
    }
}

/// One version of the files, read.
struct UserFilesVersion: Sendable {
    let file: FileSnapshot
    let groupFile: FileSnapshot?
    let table: UserTable
    /// True if the form is configured or was detected; an empty file has none.
    let hasForm: Bool

    var stamps: [FileStamp?] { [file.stamp] + (groupFile.map { [$0.stamp] } ?? []) }

    /// Returns whether one of the files was changed so recently that a further change might leave the same stamp.
    func isFresh(at moment: Int) -> Bool { stamps.contains { $0?.isFresh(at: moment) ?? false } }

    /// True if this process may replace all of the files.
    var isReplaceable: Bool {
        [file, groupFile].compactMap(\.self).allSatisfy { $0.owner.isReplaceable(in: $0.folder) }
    }

    /// Reads the files; two files are read as they were at the same moment.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - previous: The version before; a detected form must stay the same, and unchanged hashes are not read again.
    /// - Throws: ``FileFault`` if they cannot be read or trusted, or are malformed as a whole.
    init(reading paths: UserFilePaths, after previous: UserFilesVersion?) throws(FileFault) {
        var attempts = 0
        while true {
            do throws(FileFault) {
                let file = try FileSnapshot(reading: paths.file)
                var groupFile: FileSnapshot?
                if let path = paths.groupFile { groupFile = try FileSnapshot(reading: path) }
                // If the first is unchanged after the second was read, both belong to one moment.
                guard groupFile == nil || FileStamp(of: paths.file) == file.stamp else {
                    throw FileFault("\(paths.file): it is being written")
                }
                try self.init(file, groupFile: groupFile, paths: paths, after: previous)
                return
            } catch {
                attempts += 1
                guard attempts < 10, error.description.hasSuffix("it is being written") else { throw error }
                usleep(1000)
            }
        }
    }

    /// Reads the contents.
    init(
        _ file: FileSnapshot,
        groupFile: FileSnapshot?,
        paths: UserFilePaths,
        after previous: UserFilesVersion?
    ) throws(FileFault) {
        self.file = file
        self.groupFile = groupFile
        if let previous, previous.holds(file, groupFile: groupFile) {
            (table, hasForm) = (previous.table, previous.hasForm)
            return
        }
        try TextLine.checkText(file.bytes, path: paths.file)
        let lines = TextLine.lines(of: file.bytes)
        let form = try Self.form(of: file, lines: lines, paths: paths, after: previous)
        hasForm = form != nil
        let presumed = form ?? (paths.groupFile == nil ? .glassfish : .htpasswd)
        guard paths.groupFile == nil || presumed == .htpasswd else {
            throw FileFault(
                "\(paths.file): it is a GlassFish key file, which contains the groups itself; remove group-file"
            )
        }
        var warnings = file.owner.warnings(of: paths.file, holdsHashes: true)
        if !lines.contains(where: { !file.bytes.trimmed($0.content).isEmpty }) {
            warnings.append("\(paths.file): it is empty, so no user can sign in")
        }
        var groupWarnings: [String] = []
        var groups: [Username: [String]]? = presumed == .htpasswd ? [:] : nil
        if let groupFile, let path = paths.groupFile {
            try TextLine.checkText(groupFile.bytes, path: path)
            let read = GroupFile(groupFile.bytes)
            groups = read.groupsByUser()
            warnings += groupFile.owner.warnings(of: path, holdsHashes: false)
            groupWarnings = read.refusals.map { "\(path):\($0.line): the line is ignored: \($0.reason)" }
        }
        table = UserTable(
            file.bytes,
            lines: lines,
            form: presumed,
            groups: groups,
            path: paths.file,
            rules: paths.rules,
            fileWarnings: warnings,
            groupWarnings: groupWarnings,
            reusing: previous?.table
        )
    }

    private static func form(
        of file: FileSnapshot,
        lines: [TextLine],
        paths: UserFilePaths,
        after previous: UserFilesVersion?
    ) throws(FileFault) -> KeyFileForm? {
        if let form = paths.rules.form { return form }
        let found = try KeyFileForm.detect(file.bytes, lines: lines, path: paths.file)
        guard let previous, previous.hasForm else { return found }
        guard let found else { return previous.table.form }
        guard found == previous.table.form else {
            throw FileFault("\(paths.file): it is \(found.name) now, and was \(previous.table.form.name)")
        }
        return found
    }

    /// Returns whether the bytes and the permissions are the same.
    private func holds(_ file: FileSnapshot, groupFile: FileSnapshot?) -> Bool {
        self.file.bytes == file.bytes && self.file.owner == file.owner
            && self.groupFile?.bytes == groupFile?.bytes && self.groupFile?.owner == groupFile?.owner
    }

    /// Returns whether the file looks unfinished: empty, or without an end of the last line, unlike the version before.
    func looksUnfinished(after old: UserFilesVersion) -> Bool {
        Self.isUnfinished(file, after: old.file)
            || (groupFile.map { Self.isUnfinished($0, after: old.groupFile) } ?? false)
    }

    private static func isUnfinished(_ file: FileSnapshot, after old: FileSnapshot?) -> Bool {
        file.bytes.last != 0x0A && old?.bytes.last == 0x0A
    }
}
