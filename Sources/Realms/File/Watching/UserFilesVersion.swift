// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Which files hold users and groups, and how they are read.
struct UserFilePaths: Sendable {
    let file: String
    let groupFile: String?
    let rules: ReadingRules

    /// What can be told of the files without reading them.
    func stamps() -> [FileStamp?] {
        [FileStamp(of: file)] + (groupFile.map { [FileStamp(of: $0)] } ?? [])
    }
}

/// One state of the files, read.
struct UserFilesVersion: Sendable {
    let file: FileSnapshot
    let groupFile: FileSnapshot?
    let table: UserTable
    /// Whether the form was told by a line, or by the configuration; an empty file has none of its own.
    let hasForm: Bool

    var stamps: [FileStamp?] { [file.stamp] + (groupFile.map { [$0.stamp] } ?? []) }

    /// Whether one of the files was changed so shortly before a moment that its stamp may not tell of a further change.
    func isFresh(at moment: Int) -> Bool { stamps.contains { $0?.isFresh(at: moment) ?? false } }

    /// Whether this process may replace all of the files.
    var isReplaceable: Bool {
        [file, groupFile].compactMap(\.self).allSatisfy { $0.owner.isReplaceable(in: $0.folder) }
    }

    /// Reads the files; of two, both as they were at one moment.
    ///
    /// - Parameters:
    ///   - paths: Which files.
    ///   - previous: What they were before; a form they had must stay, and hashes that stay are not read again.
    /// - Throws: ``FileFault`` when they cannot be read or trusted, or make no sense.
    init(reading paths: UserFilePaths, after previous: UserFilesVersion?) throws(FileFault) {
        var attempts = 0
        while true {
            do throws(FileFault) {
                let file = try FileSnapshot(reading: paths.file)
                var groupFile: FileSnapshot?
                if let path = paths.groupFile { groupFile = try FileSnapshot(reading: path) }
                // Where both are as they were before the second was read, there was a moment when both were so.
                guard groupFile == nil || FileStamp(of: paths.file) == file.stamp else {
                    throw FileFault("\(paths.file): it is being written")
                }
                try self.init(file, groupFile, paths, after: previous)
                return
            } catch {
                attempts += 1
                guard attempts < 10, error.description.hasSuffix("it is being written") else { throw error }
                usleep(1000)
            }
        }
    }

    /// Makes sense of contents.
    init(
        _ file: FileSnapshot,
        _ groupFile: FileSnapshot?,
        _ paths: UserFilePaths,
        after previous: UserFilesVersion?
    ) throws(FileFault) {
        self.file = file
        self.groupFile = groupFile
        if let previous, previous.holds(file, groupFile) {
            (table, hasForm) = (previous.table, previous.hasForm)
            return
        }
        try TextLine.checkText(file.bytes, paths.file)
        let lines = TextLine.lines(of: file.bytes)
        let form = try Self.form(of: file, lines, paths, after: previous)
        hasForm = form != nil
        let presumed = form ?? (paths.groupFile == nil ? .glassfish : .htpasswd)
        guard paths.groupFile == nil || presumed == .htpasswd else {
            throw FileFault(
                "\(paths.file): it is a GlassFish key file, which holds the groups itself; take group-file away"
            )
        }
        var warnings = file.owner.warnings(of: paths.file, holdsHashes: true)
        if !lines.contains(where: { !file.bytes.trimmed($0.content).isEmpty }) {
            warnings.append("\(paths.file): it is empty, so that nobody can sign in")
        }
        var groups: [Username: [String]]? = presumed == .htpasswd ? [:] : nil
        if let groupFile, let path = paths.groupFile {
            try TextLine.checkText(groupFile.bytes, path)
            let read = GroupFile(groupFile.bytes)
            groups = read.groupsByUser()
            warnings += groupFile.owner.warnings(of: path, holdsHashes: false)
            warnings += read.refusals.map { "\(path):\($0.line): the line is left out: \($0.reason)" }
        }
        table = UserTable(
            file.bytes,
            lines,
            form: presumed,
            groups: groups,
            path: paths.file,
            rules: paths.rules,
            warnings: warnings,
            reusing: previous?.table
        )
    }

    private static func form(
        of file: FileSnapshot,
        _ lines: [TextLine],
        _ paths: UserFilePaths,
        after previous: UserFilesVersion?
    ) throws(FileFault) -> KeyFileForm? {
        if let form = paths.rules.form { return form }
        let found = try KeyFileForm.detect(file.bytes, lines, paths.file)
        guard let previous, previous.hasForm else { return found }
        guard let found else { return previous.table.form }
        guard found == previous.table.form else {
            throw FileFault("\(paths.file): it is \(found.name) now, and was \(previous.table.form.name)")
        }
        return found
    }

    /// Whether these are the same bytes under the same permissions.
    private func holds(_ file: FileSnapshot, _ groupFile: FileSnapshot?) -> Bool {
        self.file.bytes == file.bytes && self.file.owner == file.owner
            && self.groupFile?.bytes == groupFile?.bytes && self.groupFile?.owner == groupFile?.owner
    }

    /// Whether the file looks as if somebody was still writing it: empty, or without an end of the last line, which the
    /// state before was not.
    func looksUnfinished(after old: UserFilesVersion) -> Bool {
        Self.isUnfinished(file, after: old.file)
            || (groupFile.map { Self.isUnfinished($0, after: old.groupFile) } ?? false)
    }

    private static func isUnfinished(_ file: FileSnapshot, after old: FileSnapshot?) -> Bool {
        file.bytes.last != 0x0A && old?.bytes.last == 0x0A
    }
}
