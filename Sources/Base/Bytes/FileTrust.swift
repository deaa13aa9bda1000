// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The check of a file that decides something: whether other users of this machine could change, replace or read it.
///
/// The owner and the mode of the file, of every folder above it and of every symbolic link on the way are checked, as
/// `StrictModes` of sshd does. Trusted owners are root and the user of this process. A folder with the sticky bit, such
/// as /tmp, may be writable, because its users cannot replace the files of others. A group that has the name of the
/// owner and no other members counts as the owner (pam_umask(8), `usergroups`).
package enum FileTrust {
    /// The kinds of files, each with a column in the table of ``isError(_:_:isFolder:)``.
    package enum Use: Sendable, Hashable {
        /// Settings, texts, revocation lists, and folders of such files.
        case settings
        /// Certificates.
        case certificates
        /// Users without their password hashes: groups, mappings, databases.
        case users
        /// Users with their password hashes.
        case passwordHashes
        /// Secrets that other programs may use too.
        case secret
        /// Keys that only this program uses.
        case privateKey
        /// Files that the user of this program has made.
        case ownFile
        /// Programs that this program starts, and folders whose files choose the code that they load.
        case program
    }

    /// The dangers that other users are.
    package enum Danger: Sendable, Hashable {
        case otherOwner
        case everyoneWrites
        case groupWrites
        case everyoneReads
        /// The mode is not 0600 or less, nor 0640 or less for a file of root.
        case othersRead
    }

    /// A danger, for the administrator.
    package struct Finding: Sendable, Hashable {
        package let danger: Danger
        package let isError: Bool
        package let message: String
        /// The command or the change that ends the danger.
        package let hint: String
        /// The file, folder or link with the wrong owner or mode.
        package let culprit: String
        /// True if the danger is in a folder or link on the way to the file.
        package let isOnTheWay: Bool

        /// The message and the hint.
        package var text: String { "\(message); \(hint)" }

        /// Creates a finding about a file, or about a folder or link on the way to it.
        package init(_ danger: Danger, of path: String, through folder: String? = nil, as use: Use) {
            self.danger = danger
            culprit = folder ?? path
            isOnTheWay = folder != nil
            isError = FileTrust.isError(danger, use, isFolder: folder != nil)
            let deed = folder == nil ? "write to it" : "replace it"
            switch danger {
            case .otherOwner:
                let subject = folder.map { "\(path): \($0)" } ?? "\(path):"
                message = "\(subject) belongs to another user, who could \(deed)"
                hint = "chown root \(culprit)"
            case .everyoneWrites:
                message = "\(path): every user of this machine may \(deed)"
                hint = "chmod o-w \(culprit)"
            case .groupWrites:
                message = "\(path): \(folder.map { "the group of \($0)" } ?? "its group") may \(deed)"
                hint = "chmod g-w \(culprit)"
            case .everyoneReads where use == .passwordHashes:
                message = "\(path): every user of this machine may read the password hashes"
                hint = "chmod o-r \(path)"
            case .everyoneReads:
                message = "all users of this machine can read \(path), which must be secret"
                hint = "chmod o-r \(path)"
            case .othersRead:
                message = "\(path) contains a private key that other users can read or change"
                hint = "set its mode to 0600, or to 0640 if root owns it"
            }
        }
    }

    /// Returns whether a danger is an error: where anyone could add users, and where only this program uses the file.
    private static func isError(_ danger: Danger, _ use: Use, isFolder: Bool) -> Bool {
        switch use {
        case .settings, .certificates, .secret: false
        case .users, .passwordHashes: danger == .everyoneWrites
        // PostgreSQL refuses the key of another user as well. root does not know here which user will use the key.
        case .privateKey: !isFolder && !(danger == .otherOwner && geteuid() == 0)
        case .ownFile: !isFolder
        case .program: true
        }
    }

    /// Returns the dangers of a file or folder, then those of the folders and links on the way to it.
    ///
    /// If the file is missing, only the way is checked. The owner of the state folder, the user of the server, is
    /// trusted too. The status of an open file is used instead of that of its path.
    package static func findings(
        _ path: String,
        as use: Use,
        stateFolder: String? = nil,
        opened: stat? = nil
    ) -> [Finding] {
        var owners: Set<uid_t> = [0, geteuid()]
        var status = stat()
        if let stateFolder, unsafe stat(stateFolder, &status) == 0 { owners.insert(status.st_uid) }
        let way = FileWay(to: path)
        var findings: [Finding] = []
        if let file = way.file {
            let isReachable = way.folders.allSatisfy { $0.status.st_mode & S_IXOTH != 0 }
            findings = dangers(opened ?? file.status, use, owners, isReachable: isReachable).map {
                Finding($0, of: file.path, as: use)
            }
        }
        for folder in way.folders.reversed() {
            guard let danger = writeDanger(folder.status, owners) else { continue }
            findings.append(Finding(danger, of: way.file?.path ?? path, through: folder.path, as: use))
        }
        return findings
    }

    /// Returns the first error about a file; nil if there is none.
    package static func error(_ path: String, as use: Use, opened: stat? = nil) -> Finding? {
        findings(path, as: use, opened: opened).first(where: \.isError)
    }

    private static func dangers(_ status: stat, _ use: Use, _ owners: Set<uid_t>, isReachable: Bool) -> [Danger] {
        let danger = writeDanger(status, owners)
        let reading: Danger?
        switch use {
        case .settings, .certificates, .users, .ownFile, .program: reading = nil
        case .passwordHashes, .secret: reading = status.st_mode & S_IROTH != 0 && isReachable ? .everyoneReads : nil
        case .privateKey:
            // A service whose key belongs to root reads it as a member of the file's group. libpq has this rule too.
            reading = status.st_mode & (status.st_uid == 0 ? 0o027 : 0o077) != 0 ? .othersRead : nil
            if danger != .otherOwner { return [reading].compactMap(\.self) }
        }
        return [danger, reading].compactMap(\.self)
    }

    /// Returns how other users could change a file, or replace the files of a folder; nil if they cannot.
    private static func writeDanger(_ status: stat, _ owners: Set<uid_t>) -> Danger? {
        guard owners.contains(status.st_uid) else { return .otherOwner }
        let kind = status.st_mode & S_IFMT
        // The mode of a symbolic link has no meaning.
        guard kind != S_IFLNK, kind != S_IFDIR || status.st_mode & S_ISVTX == 0 else { return nil }
        if status.st_mode & S_IWOTH != 0 { return .everyoneWrites }
        return status.st_mode & S_IWGRP != 0 && !SystemAccount.isPrivateGroup(of: status) ? .groupWrites : nil
    }
}

/// The users and groups of the system.
package enum SystemAccount {
    /// Returns the name of a user; nil if the system has no user of the number.
    package static func name(_ user: uid_t) -> String? {
        var entry = unsafe passwd()
        var found = unsafe UnsafeMutablePointer<passwd>?.none
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard result == 0, case .some = unsafe found, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(cString: name)
    }

    /// Returns whether the group of a file has the name of the file's owner and no other members; false for root.
    static func isPrivateGroup(of status: stat) -> Bool {
        guard status.st_uid != 0, let owner = name(status.st_uid) else { return false }
        var entry = unsafe group()
        var found = unsafe UnsafeMutablePointer<group>?.none
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe getgrgid_r(status.st_gid, &entry, &buffer, buffer.count, &found)
        guard result == 0, case .some = unsafe found, let name = unsafe entry.gr_name,
            unsafe String(cString: name).utf8.elementsEqual(owner.utf8), var member = unsafe entry.gr_mem
        else { return false }
        while let text = unsafe member.pointee {
            guard unsafe String(cString: text).utf8.elementsEqual(owner.utf8) else { return false }
            unsafe member += 1
        }
        return true
    }
}

/// The contents of an open file, which is read as a whole.
package enum FileBytes {
    package enum Fault: Error {
        /// An error of the system, by its number.
        case system(Int32)
        /// The file does not have the expected size, because it is being written.
        case isBeingWritten
    }

    /// Reads the bytes of a file from its present place to its end, which must be as many as expected.
    package static func read(_ descriptor: Int32, count: Int) throws(Fault) -> [UInt8] {
        var number: Int32 = 0
        // Reading one byte more than the size shows whether the file has grown.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, filled in
            while filled < count + 1 {
                let room = count + 1 - filled
                let got = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, room)
                if got < 0, errno == EINTR { continue }
                if got < 0 { number = errno }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard number == 0 else { throw .system(number) }
        guard bytes.count == count else { throw .isBeingWritten }
        return bytes
    }
}

/// The file at the end of a path, and the folders and symbolic links on the way to it, the first of which is `/`.
private struct FileWay {
    struct Place {
        let path: String
        let status: stat
    }

    /// The number of links after which Linux gives up (path_resolution(7)).
    private static let maximumLinks = 40

    private(set) var folders: [Place] = []
    /// Nil if it is missing.
    private(set) var file: Place?

    init(to path: String) {
        var rest = Self.parts(path)
        if !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) {
            rest = Self.parts(unsafe String(cString: folder)) + rest
            unsafe free(folder)
        }
        var folder: [Substring] = []
        var links = 0
        var status = stat()
        if unsafe lstat("/", &status) == 0 { folders.append(Place(path: "/", status: status)) }
        while !rest.isEmpty {
            let part = rest.removeFirst()
            guard part != ".." else {
                _ = folder.popLast()
                continue
            }
            let place = "/" + (folder + [part]).joined(separator: "/")
            guard unsafe lstat(place, &status) == 0 else { return }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            if !isLink, rest.isEmpty {
                file = Place(path: place, status: status)
                return
            }
            folders.append(Place(path: place, status: status))
            guard isLink else {
                folder.append(part)
                continue
            }
            links += 1
            guard links <= Self.maximumLinks, let target = Self.target(of: place) else { return }
            if target.hasPrefix("/") { folder = [] }
            rest = Self.parts(target) + rest
        }
    }

    private static func parts(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    private static func target(of link: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &text, text.count)
        return count > 0 ? String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
