// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The files that `gatehouse init` makes.
struct InitFiles {
    let answers: InitAnswers

    /// All files.
    var all: [NewFile] {
        configurationFiles + proxyFiles.map { NewFile(path: $0.path, bytes: Array($0.file.text.utf8)) }
    }

    /// realms.conf, and the file with the password for servers.
    var configurationFiles: [NewFile] {
        var files = [NewFile(path: answers.configurationFile, bytes: Array(configuration.utf8))]
        if case .servers(let servers) = answers.users, case .typed(let secret) = servers.password {
            let bytes = secret.withBytes { span in span.indices.map { span[$0] } }
            files.append(NewFile(path: answers.file(servers.kind.secretFile), bytes: bytes, mode: 0o600))
        }
        return files
    }

    /// The files of the proxy, and their paths in the folder.
    var proxyFiles: [(path: String, file: ProxyFile)] {
        guard let proxy = answers.proxy else { return [] }
        let files = ProxyFile.files(for: proxy, applications: answers.applications, signInHost: answers.signInHost)
        return files.map { (answers.file("\(proxy.rawValue)/\($0.name)"), $0) }
    }

    /// A sentence about the paths that no rule matches; nil if every path is protected.
    var otherPaths: String? {
        guard answers.path.utf8.contains(where: { $0 != UInt8(ascii: "/") }) else { return nil }
        return answers.proxy == nil
            ? "other paths are open to all clients" : "other paths of \(hosts.joined(separator: ", ")) are denied"
    }

    /// The hosts of the applications; an empty name without a proxy.
    private var hosts: [String] { answers.proxy == nil ? [""] : answers.applications.map(\.host) }

    /// The text of realms.conf.
    var configuration: String {
        """
        # The realm, the server and the access rule. docs/configuration.md explains every statement.

        default-realm people;

        \(realm)

        server {
            listen  127.0.0.1:8443;
            state   \(state)
        \(proxySettings)}

        \(rules)
        """
    }

    /// The rules of the applications.
    var rules: String {
        let rules = hosts.map { host in
            """
            protect \(host)\(answers.path) {
                auth     form basic;
                require  any;     # or: require group NAME;
            }

            """
        }
        return otherPathsComment + rules.joined(separator: "\n")
    }

    private var state: String {
        let comment = "# without a tls block, a development certificate is created in this folder"
        return answers.state.map { "\"\($0)\";  \(comment)" } ?? "var;      \(comment)"
    }

    private var realm: String {
        switch answers.users {
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
        guard answers.proxy != nil else { return "" }
        let host = answers.signInHost.map { "host \($0); " } ?? ""
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
