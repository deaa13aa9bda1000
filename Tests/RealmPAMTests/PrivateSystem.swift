// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import TestTools

/// A folder that takes the place of /etc for the helper processes of a test, with users of its own.
///
/// The helper is a script that mounts the folder in a mount namespace of its own. So pam_unix reads, and changes, the
/// users of the folder. Other processes, and the files of the machine, are not affected.
struct PrivateSystem {
    /// The password of all users.
    static let password = "lilac tree"
    private static let hash =
        "$6$rounds=1000$gatehouse$c5vGXBJ4DJxUBeIE2YKr2X9BUCWJdyICGXDdqbzjjrOwSPlzeG3fsYj2rT5.n8CXrwvr8j6yS9ywpkKkEaezt."

    /// The reason why the tests cannot run; nil if they can.
    static let obstacle: String? = {
        if let obstacle = TestModule.obstacle { return obstacle }
        guard geteuid() == 0 else { return "only root can mount a folder" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-m", "mount", "--bind", "/tmp", "/tmp"]
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
        } catch {
            return "needs unshare"
        }
        return process.terminationStatus == 0 ? nil : "needs the right to create a mount namespace"
    }()

    private let folder: ProgramFolder
    /// The script that starts the helper in the namespace.
    let helper: String

    /// Writes the users and the script.
    ///
    /// - Parameter wrapper: A program that starts the helper, with its arguments, such as `setpriv`.
    /// - Throws: An error of the file system.
    init(startedBy wrapper: String = "") throws {
        folder = try ProgramFolder()
        let etc = folder.file("etc")
        try FileManager.default.createDirectory(atPath: etc + "/security", withIntermediateDirectories: true)
        for name in ["ld.so.cache", "login.defs"] where FileManager.default.fileExists(atPath: "/etc/\(name)") {
            try FileManager.default.copyItem(atPath: "/etc/\(name)", toPath: "\(etc)/\(name)")
        }
        try folder.write("passwd: files\ngroup: files\nshadow: files\n", to: "etc/nsswitch.conf")
        let days = Int(Date().timeIntervalSince1970 / 86400)
        // The fields of shadow(5) after the name: the hash, and the days that chage(1) sets.
        let users = [
            ("ann", "Ann Smith,Room 5,1234", "\(Self.hash):\(days):0:99999:7:::"),
            ("gone", "", "\(Self.hash):\(days):0:99999:7::\(days - 1):"),
            ("old", ",,,", "\(Self.hash):\(days - 100):0:50:7:::"),
            ("new", "", "\(Self.hash):0:0:99999:7:::"),
            ("idle", "", "\(Self.hash):\(days - 100):0:50:7:10::"),
            ("locked", "", "!\(Self.hash):\(days):0:99999:7:::"),
            ("none", "", ":\(days):0:99999:7:::"),
            ("star", "", "*:\(days):0:99999:7:::"),
            ("long", String(repeating: "n", count: 1100), "\(Self.hash):\(days):0:99999:7:::"),
            ("bytes", "A\u{FFFD}B", "\(Self.hash):\(days):0:99999:7:::"),
        ]
        var passwd = "root:x:0:0:root:/root:/bin/sh\n"
        var shadow = "root:*:\(days):0:99999:7:::\n"
        for (index, (name, fullName, fields)) in users.enumerated() {
            passwd += "\(name):x:\(5000 + index):5000:\(fullName):/nonexistent:/bin/sh\n"
            shadow += "\(name):\(fields)\n"
        }
        // U+FFFD stands for a byte that is not UTF-8.
        let bytes = Array(passwd.utf8).split(separator: Array("\u{FFFD}".utf8)).joined(separator: [0xFF])
        try Data(bytes).write(to: URL(fileURLWithPath: "\(etc)/passwd"))
        try folder.write(shadow, to: "etc/shadow", mode: 0o640)
        unsafe chown("\(etc)/shadow", 0, 42)
        try folder.write(
            "root:x:0:\nshadow:x:42:\nstaff:x:5001:ann,old\ncrew:x:5002:ann\npeople:x:5000:\n",
            to: "etc/group"
        )
        helper = try folder.script(
            """
            exec unshare -m sh -c 'mount --bind \(etc) /etc && exec \(wrapper) \(TestModule.helper)'
            """
        )
    }

    /// The line of a user in the shadow file.
    func shadowLine(of user: String) -> Substring? {
        folder.text("etc/shadow").split(separator: "\n").first { $0.hasPrefix("\(user):") }
    }
}
