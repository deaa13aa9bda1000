// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import Passwords
package import RealmKit

extension FileRealm: UserFileRealm {
    /// Checks a key file of GlassFish, or an htpasswd file and its group file of at most 64 MiB.
    package static func checkFile(
        _ file: String,
        groupFile: String?,
        format: String?,
        ignoringCase ignoresCase: Bool,
        services: RealmServices,
        progress: (Int) -> Void
    ) throws(RealmError) -> CheckedUserFile {
        var readOptions = ReadOptions()
        readOptions.isCaseSensitive = !ignoresCase
        readOptions.passwords = services[PasswordService.self]
        readOptions.format = format.flatMap(KeyFileFormat.init(rawValue:))
        if let format, readOptions.format == nil {
            throw .invalidOperation("a file realm does not read the format \(format)")
        }
        let size = 1 << 20
        return try checkFile(file, groupFile: groupFile, readOptions: readOptions, partSize: size, progress: progress)
    }

    static func checkFile(
        _ file: String,
        groupFile: String?,
        readOptions: ReadOptions,
        partSize: Int,
        progress: (Int) -> Void = { _ in }
    ) throws(RealmError) -> CheckedUserFile {
        let (opened, groups) = try Result { () throws(FileFault) in
            (
                try OpenedFile(file, partSize: partSize),
                try groupFile.map { path throws(FileFault) in GroupFile(try FileSnapshot(reading: path).text()) }
            )
        }.mapError { RealmError.unavailable($0.description) }.get()
        var check = UserFileCheck(
            opened,
            groups: groups?.groupsByUser(readOptions.key),
            problems: (groups?.malformedLines ?? []).map { $0.warning(groupFile ?? "") },
            readOptions: readOptions
        )
        let digest = try opened.read { part in
            try check.read(part)
            progress(opened.size > 0 ? part.end * 100 / opened.size : 100)
        }
        let groupWarnings = groupFile.map { FileTrust.findings($0, as: .users).map(\.text) } ?? []
        return CheckedUserFile(
            users: UserFileSource(
                count: check.count,
                file: opened,
                reader: check.lineReader,
                skippedLines: check.skippedLines,
                digest: digest
            ),
            fileWarnings: check.fileWarnings + groupWarnings,
            lineWarnings: check.problems,
            lineWarningCount: check.problemCount
        )
    }
}

/// The check of a file of users before an import, which keeps the names of the users, but not their passwords.
struct UserFileCheck {
    private let file: OpenedFile
    private let groups: [UTF8Text: [String]]?
    private let readOptions: ReadOptions
    private var detection: KeyFileFormat.Detection
    private var isContinued = false
    /// The first line of each name.
    private var lineByKey: [UTF8Text: Int] = [:]
    private var costs: Set<HashCost> = []
    private var hasContent = false
    private(set) var format: KeyFileFormat
    /// The lines of users that cannot be imported.
    private(set) var skippedLines: Set<Int> = []
    private(set) var count = 0
    /// At most as many as are shown.
    private(set) var problems: [String] = []
    private(set) var problemCount = 0

    init(_ file: OpenedFile, groups: [UTF8Text: [String]]?, problems: [String], readOptions: ReadOptions) {
        self.file = file
        self.groups = groups
        self.readOptions = readOptions
        detection = KeyFileFormat.Detection(path: file.name)
        format = readOptions.format ?? (groups == nil ? .glassfish : .htpasswd)
        for problem in problems { add(problem) }
    }

    var lineReader: UserLineReader {
        UserLineReader(
            format: format,
            groups: format == .htpasswd ? groups ?? [:] : nil,
            attributes: [:],
            readOptions: readOptions,
            consequence: "is not imported"
        )
    }

    var fileWarnings: [String] {
        var warnings = FileTrust.findings(file.name, as: .passwordHashes).map(\.text)
        if !hasContent { warnings.append("\(file.name): it is empty, so no user can sign in") }
        let costs = costs.sorted { $0.description < $1.description }
        if let warning = HashCost.warning(about: costs, longestCheck: readOptions.longestCheck) {
            warnings.append(warning)
        }
        let unknown = (groups ?? [:]).keys.map(\.string).filter { name in
            GroupFile.username(name).flatMap { lineByKey[readOptions.key(of: $0)] } == nil
        }
        if !unknown.isEmpty {
            let list = unknown.sorted().prefix(10).joined(separator: ", ") + (unknown.count > 10 ? ", ..." : "")
            let subject =
                unknown.count == 1 ? "1 user of the group file is" : "\(unknown.count) users of the group file are"
            warnings.append("\(subject) not in \(file.name): \(list)")
        }
        return warnings
    }

    mutating func read(_ part: OpenedFile.Part) throws(FileFault) {
        if readOptions.format == nil {
            try detection.read(part.bytes, lines: part.lines)
            format = detection.format ?? format
        }
        guard groups == nil || format == .htpasswd else {
            throw FileFault(
                "\(file.name): it is a GlassFish key file, which contains the groups itself; remove the group file"
            )
        }
        if !hasContent { hasContent = part.lines.contains { !part.bytes.trimmed($0.content).isEmpty } }
        let reader = lineReader
        var isContinued = isContinued
        format.read(part.bytes, lines: part.lines, isContinued: &isContinued) { line, parsed in
            switch parsed {
            case .blank: break
            case .malformed(let reason):
                add(TextLine.ignored(reason), line: line.number)
                if let name = format.name(ofMalformed: line, in: part.bytes) { addBroken(name, line: line.number) }
            case .user(let user): add(user, in: part.bytes, reader: reader)
            }
        }
        self.isContinued = isContinued
    }

    private mutating func add(_ line: UserLine, in bytes: [UInt8], reader: UserLineReader) {
        let number = line.line.number
        let key = readOptions.key(of: line.name)
        if let first = lineByKey[key] {
            let note = readOptions.isCaseSensitive ? "" : "; the realm ignores case"
            add("duplicate user \(line.name) (also on line \(first)\(note)): the user is not imported", line: number)
            addBroken(line.name, line: number)
            return
        }
        let (user, problems) = reader.read(line, in: bytes)
        for problem in problems { add(problem, line: number) }
        guard let user, !user.isBroken else {
            addBroken(line.name, line: number)
            return
        }
        lineByKey[key] = number
        count += 1
        if let cost = user.usablePassword?.hash.cost { costs.insert(cost) }
    }

    /// Skips a line of a name, and the line that has the name already; later lines of the name are duplicates.
    private mutating func addBroken(_ name: Username, line: Int) {
        skippedLines.insert(line)
        let key = readOptions.key(of: name)
        guard let first = lineByKey[key] else {
            lineByKey[key] = line
            return
        }
        if skippedLines.insert(first).inserted { count -= 1 }
    }

    private mutating func add(_ problem: String, line: Int) { add("\(file.name):\(line): \(problem)") }

    private mutating func add(_ problem: String) {
        problemCount += 1
        if problems.count < CheckedUserFile.maximumWarnings { problems.append(problem) }
    }
}

/// The users of a file that was checked, read in parts for an import.
struct UserFileSource: UserSource {
    let count: Int
    let file: OpenedFile
    let reader: UserLineReader
    let skippedLines: Set<Int>
    let digest: [UInt8]

    /// Reads the users again; throws at the end if the contents are not those that were checked.
    func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError) {
        var isContinued = false
        let digest = try file.read { part in
            var users: [NewUser] = []
            reader.format.read(part.bytes, lines: part.lines, isContinued: &isContinued) { line, parsed in
                guard case .user(let user) = parsed, !skippedLines.contains(line.number) else { return }
                if let new = newUser(user, in: part.bytes) { users.append(new) }
            }
            try body(users)
        }
        guard digest == self.digest else {
            throw .unavailable("\(file.name): the file was changed while its users were imported")
        }
    }

    private func newUser(_ line: UserLine, in bytes: [UInt8]) -> NewUser? {
        guard let user = try? reader.readWithoutPassword(line, in: bytes) else { return nil }
        let hash: String? =
            if PasswordFormats.isNoPassword(user.stored) || !user.isEnabled && !reader.canRead(user.stored) {
                nil
            } else {
                reader.format == .glassfish ? GlassFishPassword.portable(user.stored) : user.stored
            }
        return NewUser(user.record, hash: hash, place: "\(file.name):\(line.line.number)")
    }
}
