// SPDX-License-Identifier: Apache-2.0

internal import LibC

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
        opened: FileStatus? = nil
    ) -> [Finding] {
        var owners: Set<uid_t> = [0, geteuid()]
        // A folder that is missing has no owner.
        if let stateFolder, let status = try? FileStatus(of: stateFolder) { owners.insert(status.owner) }
        let way = FileWay(to: path)
        var findings: [Finding] = []
        if let file = way.file {
            let isReachable = way.folders.allSatisfy { $0.status.mode & S_IXOTH != 0 }
            findings = dangers(of: opened ?? file.status, as: use, owners: owners, isReachable: isReachable).map {
                Finding($0, of: file.path, as: use)
            }
        }
        for folder in way.folders.reversed() {
            guard let danger = writeDanger(of: folder.status, owners: owners) else { continue }
            findings.append(Finding(danger, of: way.file?.path ?? path, through: folder.path, as: use))
        }
        return findings
    }

    /// Returns the first error about a file; nil if there is none.
    package static func error(_ path: String, as use: Use) -> Finding? {
        findings(path, as: use).first(where: \.isError)
    }

    /// Returns the warnings about an open file; throws its first error.
    package static func check(
        _ path: String,
        as use: Use,
        opened: FileStatus
    ) throws(UnreadableFile) -> [String] {
        let findings = findings(path, as: use, opened: opened)
        if let error = findings.first(where: \.isError) { throw .untrusted(error) }
        return findings.map(\.text)
    }

    private static func dangers(
        of status: FileStatus,
        as use: Use,
        owners: Set<uid_t>,
        isReachable: Bool
    ) -> [Danger] {
        let danger = writeDanger(of: status, owners: owners)
        let reading: Danger?
        switch use {
        case .settings, .certificates, .users, .ownFile, .program: reading = nil
        case .passwordHashes, .secret: reading = status.mode & S_IROTH != 0 && isReachable ? .everyoneReads : nil
        case .privateKey:
            // A service whose key belongs to root reads it as a member of the file's group. libpq has this rule too.
            reading = status.mode & (status.owner == 0 ? 0o027 : 0o077) != 0 ? .othersRead : nil
            if danger != .otherOwner { return [reading].compactMap(\.self) }
        }
        return [danger, reading].compactMap(\.self)
    }

    /// Returns how other users could change a file, or replace the files of a folder; nil if they cannot.
    private static func writeDanger(of status: FileStatus, owners: Set<uid_t>) -> Danger? {
        guard owners.contains(status.owner) else { return .otherOwner }
        // The mode of a symbolic link has no meaning.
        guard !status.isLink, !status.isFolder || status.mode & S_ISVTX == 0 else { return nil }
        if status.mode & S_IWOTH != 0 { return .everyoneWrites }
        return status.mode & S_IWGRP != 0 && !SystemAccount.isPrivateGroup(of: status) ? .groupWrites : nil
    }
}
