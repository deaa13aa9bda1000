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

    @Test(arguments: [
        ("ScriptedLoginModule requisite", "ScriptedLoginModule optional"),
        ("unavailable=ignore", "unavailable=ignore unknown-user=ignore"),
        ("success=ok unavailable=ignore default=die", "success=ok default=ignore"),
        ("ScriptedLoginModule [success=ok unavailable=ignore default=die];", ""),
    ])
    func `the answers of a widening are granted by the new configuration, and refused by the old one`(
        old: String,
        new: String
    ) async throws {
        try write("new.conf", Self.configuration.replacing(old, with: new, maxReplacements: 1))
        let finished = try await gatehouse("prove", "--diff", "--json", "old.conf", "new.conf")
        let object = try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any]
        let examples = try #require(object?["newlyAdmitted"] as? [[String: Any]])
        #expect(!examples.isEmpty, "\(finished)")
        for example in examples {
            let (answers, user) = (
                try #require(example["answers"] as? String), try #require(example["user"] as? String)
            )
            for (file, status) in [("old.conf", 1), ("new.conf", 0)] {
                let words = ["--config", file, "--answers", answers, "staff", user]
                let replayed = try await Program.run(Program.built("authcheck"), words, input: "", in: folder.url)
                #expect(replayed.status == Int32(status), "\(file) \(answers): \(replayed)")
            }
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
        #expect(picture.output.contains("m0 -> granted [label=\"success: done\"];"), "\(picture)")
        for (words, status) in [(["--pam-dir", "pam.d"], 2), (["--login-conf", "login.conf", "b"], 2)] {
            let wrong = try await Program.run(Program.built("gatehouse"), ["prove"] + words, input: "", in: folder.url)
            #expect(wrong.status == Int32(status), "\(wrong)")
        }
    }

    @Test func `files of users and secrets need not exist for a proof`() async throws {
        let configuration = """
            login people { FileLoginModule sufficient; LDAPLoginModule required; }
            realm files { class FileRealm; file users; jaas-context people; }
            realm directory {
                class LDAPRealm; directory ldaps://ldap.example.com; base-dn "dc=example,dc=com"; ca-file ca.pem;
                search-bind-dn "cn=gatehouse"; search-bind-password "${file:secret}"; jaas-context people;
            }
            protect / { realm files directory; auth basic; require any; }

            """
        try write("old.conf", configuration)
        let open = "LDAPLoginModule optional; PermitLoginModule optional"
        try write("new.conf", configuration.replacing("LDAPLoginModule required", with: open))
        let check = try await gatehouse("check", "--config", "old.conf")
        #expect(check.status == 3)
        let proof = try await gatehouse("prove", "--config", "old.conf")
        #expect(proof.output.contains("realm directory: FileLoginModule, or LDAPLoginModule"), "\(proof)")
        let difference = try await gatehouse("prove", "--diff", "old.conf", "new.conf")
        #expect(
            difference.status == 2 && difference.output.contains("by basic, user someone of realm files"),
            "\(difference)"
        )
        try write("new.conf", configuration.replacing("require any", with: "require user ann"))
        let narrower = try await gatehouse("prove", "--diff", "old.conf", "new.conf")
        #expect(narrower.status == 1, "\(narrower)")
        try write("new.conf", configuration.replacing("base-dn", with: "base-nd"))
        #expect(try await gatehouse("prove", "--config", "new.conf").status == 3)
    }

    @Test func `a revision of a repository and its index can be compared with files`() async throws {
        func git(_ words: String...) async throws {
            let names = ["-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"]
            let path = try #require(Program.system("git"))
            let finished = try await Program.run(path, names + words, input: "", in: folder.url)
            try #require(finished.status == 0, "\(finished)")
        }
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "it's"),
            withIntermediateDirectories: true
        )
        try write("it's/login.conf", "staff { PermitLoginModule optional; ScriptedLoginModule required; };\n")
        try write(
            "it's/realms.conf",
            "login-config login.conf;\n" + Self.configuration.split(separator: "\n").dropFirst().joined(separator: "\n")
        )
        try await git("init", "-q")
        try await git("add", ".")
        try await git("commit", "-q", "-m", "first")
        let same = try await gatehouse("prove", "--diff", "HEAD:it's/realms.conf", "it's/realms.conf")
        #expect(same.status == 0, "\(same)")
        // The login.conf is that of the revision, too.
        try write("it's/login.conf", "staff { PermitLoginModule sufficient; ScriptedLoginModule required; };\n")
        let wider = try await gatehouse("prove", "--diff", "HEAD:it's/realms.conf", "it's/realms.conf")
        #expect(wider.status == 2, "\(wider)")
        #expect(wider.output.contains("before: HEAD:./it's/realms.conf:"), "\(wider)")
        let index = try await gatehouse("prove", "--diff", "HEAD:it's/realms.conf", ":it's/realms.conf")
        #expect(index.status == 0, "\(index)")
        try await git("add", ".")
        let added = try await gatehouse("prove", "--diff", "HEAD:it's/realms.conf", ":it's/realms.conf")
        #expect(added.status == 2, "\(added)")
        // In the last two, a shell script would see a quotation mark that is part of another character.
        let quotes = [
            "HEAD:'; echo owned; '", "HEAD:x\u{D4E}'; echo owned; \u{D4E}'", "HEAD:x'\u{301}; echo owned; '\u{301}",
        ]
        for name in ["HEAD:missing.conf", "HEAD~5:it's/realms.conf"] + quotes {
            let missing = try await gatehouse("prove", "--diff", name, "it's/realms.conf")
            #expect(missing.status == 3 && !missing.output.contains("owned"), "\(missing)")
        }
        // A file with the name of a revision is not taken for it.
        try write("HEAD:realms.conf", Self.configuration)
        #expect(try await gatehouse("prove", "--config", "HEAD:realms.conf").status == 3)
        #expect(try await gatehouse("prove", "--config", "./HEAD:realms.conf").status < 2)
    }

    /// The account part of himmelblau for Debian before July 2026 ignored a refusal: himmelblau issue 1561.
    @Test func `an account part that ignores a refusal is a finding`() async throws {
        let unix = "account [success=1 new_authtok_reqd=done default=ignore] pam_unix.so"
        let end = "account requisite pam_deny.so\naccount required pam_permit.so\n"
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "pam.d"),
            withIntermediateDirectories: true
        )
        for (line, finding) in [
            (
                "[success=2 default=ignore]",
                "(perm_denied, auth_err, acct_expired) is ignored: granted if pam_unix=success"
            ),
            ("[success=ok auth_err=die default=ignore]", "(perm_denied, acct_expired) is ignored"),
            ("[success=ok default=die]", nil), ("optional", nil),
        ] {
            try write("pam.d/sshd", "auth required pam_unix.so\naccount \(line) pam_himmelblau.so\n\(unix)\n\(end)")
            let finished = try await gatehouse("prove", "--pam-dir", "pam.d", "sshd")
            let wanted = finding.map { "overridden: sshd account: a refusal of pam_himmelblau \($0)" }
            #expect(finished.output.contains(wanted ?? "sshd account"), "\(finished)")
            #expect(finished.output.contains("is ignored") == (finding != nil), "\(finished)")
        }
    }

    /// Without its users the realm is not created, and its modules are only names.
    @Test func `a realm that is not created takes certificates only by a module that names users`() async throws {
        let server = "server { tls { client-certificates optional; client-ca ca.pem; } }\n"
        let certs =
            "realm certs { class CertificateRealm; }\nrealm dir { class FileRealm; file users; jaas-context dir; }\n"
        let rule = "protect / { realm certs dir; auth certificate; require any; }\n"
        let modules = "FileLoginModule optional; PermitLoginModule required;"
        try write("old.conf", server + "login dir { \(modules) }\n" + certs + rule)
        try write("new.conf", server + "login dir { CertificateLoginModule required; \(modules) }\n" + certs + rule)
        let wider = try await gatehouse("prove", "--diff", "old.conf", "new.conf")
        #expect(wider.status == 2, "\(wider)")
        let assertion = "assert never / without CertificateLoginModule;\n"
        try write("old.conf", server + "login dir { \(modules) }\n" + certs + rule + assertion)
        #expect(try await gatehouse("prove", "--config", "old.conf").status < 2)
        try write("new.conf", server + "login dir { \(modules) }\n" + certs + rule.replacing("certs ", with: ""))
        #expect(try await gatehouse("prove", "--config", "new.conf").status == 3)
    }

    @Test(arguments: [
        ("login s { FileLoginModule required; }\nrealm r { class StackRealm; jaas-context s; }", 3),
        ("login other { PermitLoginModule required; }\nrealm r { class StackRealm; }", 3),
        ("login s { pam-file app; }\nrealm r { class FileRealm; file users; jaas-context s; }", 0),
    ])
    func `a mistake that no missing file explains is an error of a proof, too`(text: String, status: Int) async throws {
        try write("app", "auth required FileLoginModule\naccount required FileLoginModule\n")
        try write("new.conf", text + "\n")
        let finished = try await gatehouse("prove", "--config", "new.conf")
        #expect(finished.status == Int32(status), "\(finished)")
    }

    @Test func `other options and another order of modules make configurations incomparable`() async throws {
        for folder in ["old", "new"] {
            let path = self.folder.url.appending(path: folder)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        }
        func write(_ folder: String, arguments: String = "x", _ modules: [String] = ["Exec", "Permit"]) throws {
            let stack = modules.map { "\($0)LoginModule required;" }.joined(separator: " ")
            let realm = "realm r { class ExecRealm; program ./check; arguments \(arguments); jaas-context s; }"
            let rule = "protect / { realm r; auth basic; require user root; }"
            try self.write("\(folder)/realms.conf", "login s { \(stack) }\n\(realm)\n\(rule)\n")
        }
        try write("old")
        // The program is another file, with the same path from its realms.conf.
        try write("new")
        let same = try await gatehouse("prove", "--diff", "old/realms.conf", "new/realms.conf")
        #expect(same.status == 0, "\(same)")
        try write("new", arguments: "new/x")
        #expect(try await gatehouse("prove", "--diff", "old/realms.conf", "new/realms.conf").status == 3)
        // The module that is first names the user.
        try write("new", ["Permit", "Exec"])
        #expect(try await gatehouse("prove", "--diff", "old/realms.conf", "new/realms.conf").status == 3)
    }

    @Test func `a name of a module is text in a picture`() async throws {
        let name = "x\u{D4E}<image href='https://e.example/'/>\u{301}"
        try write("login.conf", "a { \"\(name)\" required; };\n")
        let picture = try await gatehouse("prove", "--login-conf", "login.conf", "--svg")
        #expect(!picture.output.contains("<image"), "\(picture)")
        #expect(picture.output.utf8.count > 500, "\(picture)")
    }

    @Test(arguments: [
        // Each of two required lines is needed, although the other one may ignore the login.
        (
            "auth required pam_unix.so\nauth required pam_google_authenticator.so",
            "  granted by pam_unix and pam_google_authenticator\n"
                + "  if others give further answers, such as ignore: pam_unix, or pam_google_authenticator\n"
        ),
        // Without .so, libpam finds no such module, and goes on to the next line.
        (
            "auth [success=done module_unknown=ignore default=die] pam_deny\nauth required pam_unix.so",
            "such as ignore: pam_deny, or pam_unix\n"
        ),
        ("auth required pam_unix.so\nauth optional pam_faildelay.so", "  granted by pam_unix\n"),
        ("auth sufficient pam_ldap.so\nauth sufficient pam_ldap.so", "  granted by pam_ldap, or pam_ldap#2\n"),
    ])
    func `lines of PAM are proved as libpam reads them`(lines: String, expected: String) async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "pam.d"),
            withIntermediateDirectories: true
        )
        try write("pam.d/app", lines + "\naccount required pam_unix.so\n")
        let finished = try await gatehouse("prove", "--pam-dir", "pam.d", "app")
        #expect(finished.output.contains(expected) && finished.status == 0, "\(finished)")
        let conf = (lines + "\naccount include shared").split(separator: "\n").map { "app \($0)\n" }.joined()
        try write("pam.conf", conf)
        try write("pam.d/shared", "account required pam_unix.so\n")
        let whole = try await gatehouse("prove", "--pam-conf", "pam.conf", "app")
        #expect(whole.output == finished.output && whole.status == 0, "\(whole)")
    }

    @Test(arguments: [
        ["--diff", "--dot", "old.conf", "old.conf"], ["--diff", "--config", "old.conf", "old.conf", "old.conf"],
        ["--pam-dir", ".", "--config", "old.conf", "x"], ["--svg", "--accept", "old.conf"],
        ["--config", "old.conf", "--dot", "staff", "nosuch"], ["--pam-conf", "old.conf"],
    ])
    func `options that would have no effect are refused`(words: [String]) async throws {
        let finished = try await Program.run(Program.built("gatehouse"), ["prove"] + words, input: "", in: folder.url)
        #expect(finished.status == 2 && finished.output.isEmpty, "\(finished)")
    }
}
