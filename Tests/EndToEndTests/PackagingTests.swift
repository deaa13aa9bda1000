// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The files of `packaging`: pages, completions, units, and their installation.
@Suite struct PackagingTests {
    private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardized
    private static let hasMandoc = Program.system("mandoc") != nil
    private static let hasSystemd = Program.system("systemd-analyze") != nil

    private static let pages = ["authcheck.1", "gatehouse.8", "login.conf.5", "realms.conf.5"]

    @Test(.enabled(if: Program.system("python3") != nil, "python3 is not installed"))
    func `the manual pages and completions are those of the commands`() async throws {
        let script = Self.source.appendingPathComponent("Scripts/manual.py")
        let checked = try await Program.run(script, [Program.folder.path, "--check"])
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.output == "")
    }

    @Test(.enabled(if: hasMandoc, "mandoc is not installed"), arguments: pages)
    func `mandoc has no warning about a manual page`(page: String) async throws {
        let file = Self.source.appendingPathComponent("packaging/man/\(page)").path
        let linted = try await Program.run(
            try #require(Program.system("mandoc")),
            ["-T", "lint", "-W", "warning", file]
        )
        #expect(linted.status == 0, "\(linted)")
        #expect(linted.output == "")
    }

    /// A shell, its options for a script, and a script that completes `gatehouse ser`.
    private static let completions = [
        (
            "bash", ["--norc", "-c"],
            """
            source "$0/gatehouse"; COMP_WORDS=(gatehouse ser); COMP_CWORD=1; COMP_LINE="gatehouse ser"; COMP_POINT=13
            _gatehouse gatehouse ser gatehouse; echo "${COMPREPLY[@]}"
            """, "serve\n"
        ),
        ("fish", ["-c"], "source $argv[1]/gatehouse.fish; complete -C 'gatehouse ser'", "serve\tServe until"),
        // zsh completes in an editor only.
        (
            "zsh", ["-f", "-c"],
            "fpath=($0 $fpath); autoload -U compinit; compinit -D -u; print $_comps[gatehouse] $_comps[authcheck]",
            "_gatehouse _authcheck\n"
        ),
    ]

    @Test(arguments: completions)
    func `the shells complete the commands`(
        shell: String,
        options: [String],
        script: String,
        expected: String
    ) async throws {
        guard let program = Program.system(shell) else { return }
        let folder = Self.source.appendingPathComponent("packaging/completions/\(shell)").path
        let completed = try await Program.run(program, options + [script, folder])
        #expect(completed.status == 0, "\(completed)")
        #expect(completed.errors == "")
        #expect(completed.output.hasPrefix(expected), "\(completed)")
    }

    /// Words before the cursor, and what bash completes the last of them to, in a folder with `realms.conf`, `users` and the
    /// folder `realm.d`.
    private static let values: [([String], [String])] = [
        (["gatehouse", "serve", "--config", "re"], ["realm.d", "realms.conf"]),
        (["gatehouse", "check", "--config", "realms"], ["realms.conf"]),
        (["gatehouse", "init", "--proxy", "ng"], ["nginx"]),
        (["gatehouse", "init", "--proxy", ""], ["none", "nginx", "caddy", "haproxy"]),
        (["gatehouse", "init", "--folder", "re"], ["realm.d"]),
        (["gatehouse", "init", "--users", "us"], ["users"]),
        (["gatehouse", "user", "import", "us"], ["users"]),
        (["gatehouse", "user", "import", "--group-file", "us"], ["users"]),
        (["gatehouse", "user", "expire", "ann", "n"], ["never"]),
        (["gatehouse", "log", "us"], ["users"]),
        (["gatehouse", "log", "users", "realms"], ["realms.conf"]),
        (["gatehouse", "explain", "PO"], ["POST"]),
        (["gatehouse", "translation", "d"], ["de"]),
        (["authcheck", "--config", "realms"], ["realms.conf"]),
        (["authcheck", "--certificate", "us"], ["users"]),
        (["authcheck", "--ca", "us"], ["users"]),
        (["authcheck", "--token-file", "us"], ["users"]),
    ]

    @Test(.enabled(if: Program.system("bash") != nil, "bash is not installed"), arguments: values)
    func `bash completes the values of options and arguments`(words: [String], expected: [String]) async throws {
        let folder = try TemporaryFolder()
        for name in ["realms.conf", "users"] { try folder.write("", to: name) }
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("realm.d"),
            withIntermediateDirectories: false
        )
        let script = """
            source "$0/$1"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            _$1 "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let completed = try await Program.run(
            try #require(Program.system("bash")),
            ["--norc", "-c", script, Self.source.appendingPathComponent("packaging/completions/bash").path] + words,
            in: folder.url
        )
        #expect(completed.status == 0, "\(completed)")
        #expect(completed.errors == "")
        #expect(completed.output.split(separator: "\n").map(String.init).sorted() == expected.sorted())
    }

    /// Installs into a folder, with empty files for the programs.
    private func install(into folder: TemporaryFolder, _ arguments: String...) async throws -> Finished {
        let programs = folder.url.appendingPathComponent("programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for name in ["gatehouse", "authcheck", "gatehouse-pam-helper"] {
            let path = programs.appendingPathComponent(name).path
            try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return try await Program.run(
            try #require(Program.system("make")),
            ["-s", "-C", Self.source.path, "DESTDIR=\(folder.url.path)/root", "PROGRAMS=\(programs.path)"] + arguments
        )
    }

    private func files(_ folder: URL) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(
                atPath: folder.appendingPathComponent(name).path,
                isDirectory: &isFolder
            )
            return !isFolder.boolValue
        }
    }

    @Test(.enabled(if: Program.system("make") != nil, "make is not installed"))
    func `make install puts every file in its place, and make uninstall removes all but the configuration`()
        async throws
    {
        let folder = try TemporaryFolder()
        let root = folder.url.appendingPathComponent("root")
        let installed = try await install(into: folder, "install", "PREFIX=/opt/gate")
        #expect(installed.status == 0, "\(installed)")
        let names = try files(root)
        for name in [
            "opt/gate/bin/gatehouse", "opt/gate/bin/authcheck", "opt/gate/libexec/gatehouse/gatehouse-pam-helper",
            "opt/gate/share/man/man8/gatehouse.8", "opt/gate/share/man/man1/authcheck.1",
            "opt/gate/share/man/man5/realms.conf.5", "opt/gate/share/man/man5/login.conf.5",
            "opt/gate/share/bash-completion/completions/gatehouse", "opt/gate/share/zsh/site-functions/_authcheck",
            "opt/gate/share/fish/vendor_completions.d/gatehouse.fish", "opt/gate/lib/systemd/system/gatehouse.service",
            "opt/gate/lib/systemd/system/gatehouse.socket", "opt/gate/lib/sysusers.d/gatehouse.conf",
            "opt/gate/lib/tmpfiles.d/gatehouse.conf", "opt/gate/share/doc/gatehouse/docs/configuration.md",
            "etc/gatehouse/realms.conf",
        ] { #expect(names.contains(name), "\(name)") }
        let unit = root.appendingPathComponent("opt/gate/lib/systemd/system/gatehouse.service")
        #expect(
            try String(contentsOf: unit, encoding: .utf8)
                .contains("\nExecStart=/opt/gate/bin/gatehouse serve --config /etc/gatehouse/realms.conf\n")
        )
        for name in names where !name.contains("/doc/") {
            let text = try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
            #expect(!text.contains(/@[a-z]+@/), "\(name)")
        }

        let configuration = root.appendingPathComponent("etc/gatehouse/realms.conf")
        try Data("changed".utf8).write(to: configuration)
        #expect(try await install(into: folder, "install", "PREFIX=/opt/gate").status == 0)
        #expect(try String(contentsOf: configuration, encoding: .utf8) == "changed")

        #expect(try await install(into: folder, "uninstall", "PREFIX=/opt/gate").status == 0)
        #expect(try files(root) == ["etc/gatehouse/realms.conf"])
    }

    @Test(.enabled(if: Program.system("make") != nil, "make is not installed"))
    func `make install without built programs says what to run`() async throws {
        let folder = try TemporaryFolder()
        let refused = try await install(into: folder, "install", "PROGRAMS=\(folder.url.path)/none")
        #expect(refused.status != 0)
        #expect(refused.errors.contains("has no programs: run make release first"), "\(refused)")
        #expect(try !files(folder.url).contains { $0.hasPrefix("root/") })
    }

    @Test(
        .enabled(if: hasSystemd, "systemd-analyze is not installed"),
        .enabled(if: Program.system("make") != nil, "make is not installed")
    )
    func `systemd finds no error in the units, and the exposure of the service is at most 2`() async throws {
        let folder = try TemporaryFolder()
        let prefix = "\(folder.url.path)/root/opt/gate"
        #expect(try await install(into: folder, "install", "PREFIX=/opt/gate").status == 0)
        let units = "\(prefix)/lib/systemd/system"
        // The program is where the unit looks for it.
        let service = "\(units)/gatehouse.service"
        let text = try String(contentsOfFile: service, encoding: .utf8)
        try text.replacing("=/opt/gate/", with: "=\(prefix)/")
            .write(toFile: service, atomically: true, encoding: .utf8)
        let analyze = try #require(Program.system("systemd-analyze"))
        let verified = try await Program.run(
            analyze,
            ["verify", "--man=no", "--recursive-errors=no", service, "\(units)/gatehouse.socket"]
        )
        #expect(verified.status == 0, "\(verified)")
        #expect(verified.output + verified.errors == "")
        let rated = try await Program.run(
            analyze,
            ["security", "--no-pager", "--offline=true", "--threshold=20", service]
        )
        #expect(rated.status == 0, "\(rated)")
        #expect(rated.output.contains("Overall exposure level for gatehouse.service: "))
    }

    @Test func `the installed configuration is correct, and its page is protected`() async throws {
        let folder = try TemporaryFolder()
        let text = try String(
            contentsOf: Self.source.appendingPathComponent("packaging/realms.conf.in"),
            encoding: .utf8
        )
        try folder.write(text.replacing("@statedir@", with: "\(folder.url.path)/state"), to: "realms.conf")
        let checked = try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url)
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.errors == "")
        let explained = try await Program.run(
            Program.built("gatehouse"),
            ["explain", "GET", "https://localhost:8443/welcome"],
            in: folder.url
        )
        #expect(explained.status == 1)
        #expect(explained.output.hasPrefix("401: "), "\(explained)")
    }
}
