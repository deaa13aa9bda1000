// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The files that `gatehouse init` makes.
extension InitAnswers {
    var files: [NewFile] {
        configurationFiles + proxyFiles.map { NewFile(path: $0.path, bytes: Array($0.file.text.utf8)) }
    }

    /// realms.conf, and the file with the password for servers.
    var configurationFiles: [NewFile] {
        var files = [NewFile(path: configurationFile, bytes: Array(configuration.utf8))]
        if case .servers(let servers) = users, case .typed(let secret) = servers.password {
            let bytes = secret.withBytes { span in span.indices.map { span[$0] } }
            files.append(NewFile(path: file(servers.kind.secretFile), bytes: bytes, mode: 0o600))
        }
        return files
    }

    /// The files of the proxy, and their paths in the folder.
    var proxyFiles: [(path: String, file: ProxyFile)] {
        guard let proxy else { return [] }
        let files = ProxyFile.files(for: proxy, applications: applications, signInHost: signInHost)
        return files.map { (file("\(proxy.rawValue)/\($0.name)"), $0) }
    }

    /// A sentence about the paths that no rule matches; nil if every path is protected.
    var otherPaths: String? {
        guard path.utf8.contains(where: { $0 != UInt8(ascii: "/") }) else { return nil }
        return proxy == nil
            ? "other paths are open to all clients" : "other paths of \(hosts.joined(separator: ", ")) are denied"
    }

    /// The hosts of the applications; an empty name without a proxy.
    private var hosts: [String] { proxy == nil ? [""] : applications.map(\.host) }

    var configuration: String {
        """
        # The realm, the server and the access rule. docs/configuration-reference.md explains every statement.

        default-realm people;

        \(realm)

        server {
            listen  127.0.0.1:8443;
            state   \(stateStatement)
        \(proxySettings)}

        \(rules)
        """
    }

    var rules: String {
        let rules = hosts.map { host in
            """
            protect \(host)\(path) {
                auth     form basic;
                require  any;     # or: require group NAME;
            }

            """
        }
        return otherPathsComment + rules.joined(separator: "\n")
    }

    private var stateStatement: String {
        let comment = "# without a tls block, a development certificate is created in this folder"
        return state.map { "\"\($0)\";  \(comment)" } ?? "var;      \(comment)"
    }

    private var realm: String {
        switch users {
        case .new:
            """
            # Users in the database of Gatehouse: gatehouse user add NAME
            login storeRealm { StoreLoginModule required; }
            realm people { class StoreRealm; }
            """
        case .pam:
            """
            # Users of this system. /etc/pam.d/gatehouse names the modules: docs/realms/pam.md
            login pamRealm { PAMLoginModule required; }
            realm people { class PAMRealm; service gatehouse; }
            """
        case .file(let path):
            """
            login fileRealm { FileLoginModule required; }
            realm people { class FileRealm; file "\(path)"; }
            """
        case .servers(let servers): servers.text
        }
    }

    private var proxySettings: String {
        guard proxy != nil else { return "" }
        let host = signInHost.map { "host \($0); " } ?? ""
        return """
                trusted-proxies  127.0.0.1;       # the proxy that may send checks
                sign-in { \(host)prefix /gatehouse; }

            """
    }

    private var otherPathsComment: String {
        guard let otherPaths else { return "" }
        let rule = "protect \(hosts.first ?? "")/"
        return "# A rule is also for the paths below its path; \(otherPaths). A rule for them: \(rule) { ... }\n"
    }
}

/// The next steps after `gatehouse init`: commands for a shell, and notes.
extension InitAnswers {
    /// Returns the steps, after a new configuration, or if applications were added to an earlier one.
    func nextSteps(isAddition: Bool = false) -> String {
        let configuration = ShellWord.quoted(configurationFile)
        var steps: [String] = []
        if case .new = users, user == nil, !isAddition {
            let owner = state == nil ? "" : "      # as the user of the server"
            steps.append("gatehouse user add NAME --config \(configuration)\(owner)")
        }
        steps.append(
            isAddition
                ? "systemctl reload gatehouse      # or send SIGHUP to the server"
                : "gatehouse serve --config \(configuration)"
        )
        var lines = ["", "next: " + steps.joined(separator: "\n      ")]
        if let proxy {
            let pages = applications.map { "https://\($0.host)\(path)" }
            lines += proxySteps(proxy, isAddition: isAddition) + ["then open " + pages.joined(separator: ", ")]
        } else {
            lines.append("then open https://localhost:8443\(path)")
        }
        if let note = otherPaths { lines.append(note) }
        if proxy != nil, !isAddition {
            if signInHost == nil {
                lines.append(
                    "one sign-in for all applications must be chosen now: --sign-in-host NAME, in a new folder"
                )
            }
            let folder = ShellWord.quoted(self.folder)
            lines.append(
                "a further application: gatehouse init --add --folder \(folder) --host NAME --application ADDRESS"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// The certificates that a proxy needs, the commands that copy its files, and the addresses of the applications; files of
    /// a proxy that exist may have other applications, and are not replaced.
    private func proxySteps(_ proxy: ProxyFile.Proxy, isAddition: Bool) -> [String] {
        var commands = proxyFiles.flatMap { path, file in
            let place = ShellWord.quoted(file.place)
            let copy = "[ -e \(place) ] || \(Self.copy(path, to: place))"
            guard isAddition, let first = file.addedLines.split(separator: "\n").first else { return [copy] }
            let lines = file.addedLines.replacing("\n", with: "\\n")
            return [copy, "grep -qxF '\(first)' \(place) || printf '\\n\(lines)' >>\(place)"]
        }
        if !isAddition {
            commands.append(Self.copy("\(stateFolder)/development-authority.pem", to: proxy.authorityFile))
        }
        commands += proxy.reloadCommands
        commands[commands.count - 1] += "      # without systemd: \(proxy.reloadWithoutSystemd)"
        let hosts = applications.map(\.host) + [signInHost].compactMap(\.self)
        return hosts.map { "\(proxy.rawValue) reads the certificate of \($0) from \(proxy.certificateFiles(of: $0))" }
            + ["then, as root (a file that exists is not replaced: add the lines of the new one to it):"]
            + commands.map { "      \($0)" }
            + applications.map { "the application of \($0.host) is expected at \($0.address)" }
    }

    private static func copy(_ path: String, to place: String) -> String {
        "install -D -m 644 \(ShellWord.quoted(path)) \(place)"
    }
}

enum ShellWord {
    /// Returns a word as a POSIX shell reads it: unchanged, or in single quotes.
    static func quoted(_ word: String) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="
        let isPlain = word.utf8.allSatisfy(plain.utf8.contains)
        guard !isPlain || word.isEmpty else { return word }
        // By scalars: a combining mark makes one character with the sign before it.
        return "'" + word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}
