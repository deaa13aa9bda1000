// SPDX-License-Identifier: Apache-2.0

import Files
import Glibc
import Testing

/// The table of owners, modes and folders.
struct FileTrustTests {
    private let root: TemporaryFolder
    private var file: String { "\(root.path)/a/b/file" }

    init() throws {
        root = try TemporaryFolder()
        for folder in ["a", "a/b"] { try #require(unsafe mkdir("\(root.path)/\(folder)", 0o755) == 0) }
        try root.write(file)
    }

    private func findings(_ use: FileTrust.Use, stateFolder: String? = nil) -> [String] {
        FileTrust.findings(file, as: use, stateFolder: stateFolder).map {
            "\($0.isError ? "error" : "warning"): \($0.text)".replacing(root.path, with: "")
        }
    }

    @Test(arguments: [
        FileTrust.Use.settings, .certificates, .users, .passwordHashes, .secret, .privateKey, .ownFile, .program,
    ])
    func `a file of this user that only this user can change is trusted`(use: FileTrust.Use) {
        #expect(findings(use) == [])
    }

    @Test(arguments: [
        (FileTrust.Use.settings, "warning"), (.certificates, "warning"), (.users, "error"), (.passwordHashes, "error"),
        (.secret, "warning"), (.ownFile, "error"), (.program, "error"),
    ])
    func `a file to which every user may write is named`(use: FileTrust.Use, severity: String) {
        unsafe chmod(file, 0o602)
        let text = ": /a/b/file: every user of this machine may write to it; chmod o-w /a/b/file"
        #expect(findings(use) == [severity + text])
    }

    @Test(arguments: [
        (FileTrust.Use.settings, "warning"), (.users, "error"), (.privateKey, "warning"), (.program, "error"),
    ])
    func `a folder above in which every user may replace the file is named, unless it is sticky`(
        use: FileTrust.Use,
        severity: String
    ) {
        unsafe chmod("\(root.path)/a", 0o777)
        #expect(
            findings(use) == ["\(severity): /a/b/file: every user of this machine may replace it; chmod o-w /a"]
        )
        unsafe chmod("\(root.path)/a", 0o1777)
        #expect(findings(use) == [])
    }

    @Test(arguments: [
        (0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o660, false), (0o644, false), (0o620, false),
        (0o602, false),
    ])
    func `the mode of a private key decides whether it is private`(mode: mode_t, isPrivate: Bool) {
        unsafe chmod(file, mode)
        // The group may read a file of root.
        let isAccepted = isPrivate || geteuid() == 0 && mode == 0o640
        let error =
            "error: /a/b/file contains a private key that other users can read or change; set its mode to 0600, or to 0640 if root owns it"
        #expect(findings(.privateKey) == (isAccepted ? [] : [error]))
    }

    @Test(arguments: [(0o755, true), (0o711, true), (0o750, false), (0o700, false)])
    func `every user can read a file only if every user can enter all folders above it`(
        mode: mode_t,
        isReadable: Bool
    ) {
        unsafe chmod(file, 0o644)
        unsafe chmod("\(root.path)/a", mode)
        for use in [FileTrust.Use.secret, .passwordHashes] { #expect(findings(use).isEmpty == !isReadable) }
        #expect(findings(.settings) == [])
    }

    @Test func `a link is checked like a folder, and so is its target`() throws {
        unsafe mkdir("\(root.path)/open", 0o777)
        unsafe chmod("\(root.path)/open", 0o777)
        try #require(unsafe symlink("../a/b/file", "\(root.path)/open/link") == 0)
        let text = FileTrust.findings("\(root.path)/open/link", as: .settings).map(\.text)
        #expect(
            text == ["\(file): every user of this machine may replace it; chmod o-w \(root.path)/open"]
        )
        unsafe chmod("\(root.path)/open", 0o755)
        unsafe chmod(file, 0o606)
        #expect(FileTrust.findings("\(root.path)/open/link", as: .settings).map(\.culprit) == [file])
        try #require(unsafe symlink("loop", "\(root.path)/loop") == 0)
        #expect(FileTrust.findings("\(root.path)/loop", as: .program) == [])
    }

    @Test func `a relative path is checked from the present folder`() {
        let paths = FileTrust.findings("no/such/file", as: .program).map(\.culprit)
        #expect(paths.allSatisfy { $0.hasPrefix("/") })
    }

    @Test func `a folder above a missing file is checked`() {
        unsafe unlink(file)
        unsafe chmod("\(root.path)/a/b", 0o777)
        #expect(findings(.settings).count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `a file or folder of another user is named, unless the user runs the server`() throws {
        unsafe chown(file, 48_213, 48_213)
        unsafe chmod(file, 0o600)
        let text = ": /a/b/file: belongs to another user, who could write to it; chown root /a/b/file"
        for use in [FileTrust.Use.settings, .users, .secret, .privateKey] {
            #expect(findings(use) == ["warning\(text)"])
        }
        for use in [FileTrust.Use.ownFile, .program] { #expect(findings(use) == ["error\(text)"]) }
        unsafe mkdir("\(root.path)/state", 0o700)
        unsafe chown("\(root.path)/state", 48_213, 48_213)
        #expect(findings(.settings, stateFolder: "\(root.path)/state") == [])
        unsafe chown(file, 0, 0)
        unsafe chown("\(root.path)/a", 48_213, 48_213)
        let folder = "warning: /a/b/file: /a belongs to another user, who could replace it; chown root /a"
        #expect(findings(.settings) == [folder])
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `a group that may write is named, unless it is the owner's own`() throws {
        unsafe chmod(file, 0o660)
        // `daemon` is a user of every Linux, with a group of the same name.
        guard let daemon = unsafe getpwnam("daemon") else {
            Issue.record("there is no user daemon")
            return
        }
        let (user, group) = unsafe (daemon.pointee.pw_uid, daemon.pointee.pw_gid)
        #expect(findings(.settings) == ["warning: /a/b/file: its group may write to it; chmod g-w /a/b/file"])
        unsafe chown(file, user, group)
        unsafe mkdir("\(root.path)/state", 0o700)
        unsafe chown("\(root.path)/state", user, group)
        #expect(findings(.settings, stateFolder: "\(root.path)/state") == [])
        unsafe chown(file, user, 0)
        #expect(findings(.settings, stateFolder: "\(root.path)/state").count == 1)
    }
}
