// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

struct ProveTests {
    private static let configuration = """
        login staff { ScriptedLoginModule requisite; ScriptedLoginModule [success=ok unavailable=ignore default=die]; }
        realm staff { class StackRealm; jaas-context staff; }
        protect /admin { realm staff; auth basic; require group admins; }
        protect /      { realm staff; auth basic form; require any; }

        """

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try write("old.conf", Self.configuration)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
    }

    private func gatehouse(_ words: String...) async throws -> Finished {
        try await Program.run(Program.built("gatehouse"), words, input: "", in: folder.url)
    }

    @Test(arguments: [
        ("require any", "require any", 0, "same: "),
        ("group admins", "group admins owners", 2, "wider: "),
        ("auth basic form", "auth basic", 1, "narrower: "),
        ("auth basic;", "auth form basic;", 2, "wider: "),
        ("unavailable=ignore", "unavailable=die", 3, "incomparable: "),
        ("group admins", "user ann", 2, "wider: "),
        ("require any; }", "require any; }\nserver { trusted-proxies 127.0.0.1; }", 3, "incomparable: "),
        ("require any; }", "require any; }\nprotect \"/a|b\" { open; }", 2, "wider: "),
        ("ScriptedLoginModule requisite", "ScriptedLoginModule optional", 2, "wider: "),
        ("ScriptedLoginModule requisite", "ScriptedLoginModule requisite login=ignored", 3, "incomparable: "),
        ("protect /admin", "protect = /admin", 2, "wider: "),
        ("require any", "require everybody", 3, ""),
    ])
    func `the comparison of two configurations has its result as exit status`(
        old: String,
        new: String,
        status: Int,
        beginning: String
    ) async throws {
        try write("new.conf", Self.configuration.replacing(old, with: new, maxReplacements: 1))
        let finished = try await gatehouse("prove", "--diff", "old.conf", "new.conf")
        #expect(finished.status == Int32(status) && finished.output.hasPrefix(beginning), "\(finished)")
    }

    @Test func `the example of a widening can be explained`() async throws {
        try write("new.conf", Self.configuration.replacing("group admins", with: "group admins owners"))
        let finished = try await gatehouse("prove", "--diff", "--json", "old.conf", "new.conf")
        let object = try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any]
        let example = try #require((object?["newlyAdmitted"] as? [[String: Any]])?.first)
        let (method, url) = (try #require(example["method"] as? String), try #require(example["url"] as? String))
        let (user, group) = (try #require(example["user"] as? String), try #require(example["group"] as? String))
        let request = ["explain", method, url, "--user", user, "--groups", group, "--realm", "staff"]
        for (file, status) in [("old.conf", 1), ("new.conf", 0)] {
            let words = request + ["--config", file]
            let explained = try await Program.run(Program.built("gatehouse"), words, input: "", in: folder.url)
            #expect(explained.status == Int32(status), "\(file): \(explained)")
        }
    }

    @Test func `findings set the status, and those of a file are accepted`() async throws {
        let text = Self.configuration.replacing("ScriptedLoginModule requisite;", with: "DenyLoginModule optional;")
        try write("old.conf", text.replacing("default=die", with: "default=ignore"))
        let finished = try await gatehouse("prove", "--config", "old.conf")
        #expect(finished.status == 1, "\(finished)")
        #expect(finished.output.contains("granted by ScriptedLoginModule\n"), "\(finished)")
        let finding = try #require(finished.output.split(separator: "\n").last { $0.contains("redundant: staff:") })
        #expect(finding.hasPrefix("old.conf:1:"), "\(finding)")
        let known = finished.output.split(separator: "\n").filter { $0.hasPrefix("old.conf:") }
            .map { $0.split(separator: ": ", maxSplits: 1)[1] }
        try write("known.txt", known.joined(separator: "\n"))
        let accepted = try await gatehouse("prove", "--config", "old.conf", "--accept", "known.txt")
        #expect(accepted.status == 0, "\(accepted)")
        let sarif = try await gatehouse("prove", "--config", "old.conf", "--sarif")
        let object = try JSONSerialization.jsonObject(with: Data(sarif.output.utf8)) as? [String: Any]
        let runs = object?["runs"] as? [[String: Any]]
        #expect((runs?.first?["results"] as? [[String: Any]])?.count == known.count, "\(sarif)")
    }

    @Test func `services of PAM and entries of a login.conf are proved without a realms.conf`() async throws {
        let common = """
            auth [success=2 default=ignore] pam_unix.so nullok
            auth [success=1 default=ignore] pam_sss.so use_first_pass
            auth requisite pam_deny.so
            auth required pam_permit.so
            auth optional pam_cap.so
            """
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "pam.d"),
            withIntermediateDirectories: true
        )
        try write("pam.d/common-auth", common)
        try write("pam.d/sshd", "auth include common-auth\naccount required pam_unix.so\n")
        let finished = try await gatehouse("prove", "--pam-dir", "pam.d", "sshd")
        #expect(finished.output.contains("sshd auth\n  granted by pam_unix, or pam_sss\n"), "\(finished)")
        #expect(finished.output.contains("sshd account\n  granted by pam_unix\n"), "\(finished)")
        try write("login.conf", "a { com.example.A sufficient; com.example.B required; };\n")
        let entry = try await gatehouse("prove", "--login-conf", "login.conf", "a")
        #expect(entry.output.contains("granted by com.example.A, or com.example.B\n"), "\(entry)")
        #expect(entry.status == 0)
        let picture = try await gatehouse("prove", "--login-conf", "login.conf", "--dot")
        #expect(picture.output.contains("m0 -> end [label=\"success: done\"];"), "\(picture)")
        for (words, status) in [(["--pam-dir", "pam.d"], 2), (["--login-conf", "login.conf", "b"], 2)] {
            let wrong = try await Program.run(Program.built("gatehouse"), ["prove"] + words, input: "", in: folder.url)
            #expect(wrong.status == Int32(status), "\(wrong)")
        }
    }
}
