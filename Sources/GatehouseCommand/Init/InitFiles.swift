// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ProxyFiles

/// The files that `gatehouse init` makes.
struct InitFiles {
    let answers: InitAnswers

    /// All files: paths and texts.
    var all: [(path: String, text: String)] {
        let ofProxy = answers.proxy.map { proxyFiles(of: $0) } ?? []
        return [(answers.configurationFile, configuration)] + ofProxy.map { ($0.path, $0.text) }
    }

    /// Returns the files of a proxy, for the host and the address of the application.
    ///
    /// - Parameter proxy: The proxy.
    /// - Returns: The paths, the texts, and the paths under which the proxy reads the files.
    func proxyFiles(of proxy: ProxyFile.Proxy) -> [(path: String, text: String, place: String)] {
        ProxyFile.files(for: proxy, host: answers.host, application: answers.application).map { file in
            (answers.file("\(proxy.rawValue)/\(file.name)"), file.text, file.place)
        }
    }

    /// A sentence about the paths that no rule matches; nil if every path is protected.
    var otherPaths: String? {
        guard answers.path.utf8.contains(where: { $0 != UInt8(ascii: "/") }) else { return nil }
        return answers.proxy == nil
            ? "other paths are open to all clients" : "other paths of \(answers.host) are denied"
    }

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

        \(otherPathsComment)protect \(answers.proxy == nil ? "" : answers.host)\(answers.path) {
            auth     form basic;
            require  any;     # or: require group NAME;
        }

        """
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
        }
    }

    private var proxySettings: String {
        guard answers.proxy != nil else { return "" }
        return """
                trusted-proxies  127.0.0.1;       # the proxy that may send checks
                sign-in { prefix /gatehouse; }

            """
    }

    private var otherPathsComment: String {
        guard let otherPaths else { return "" }
        let rule = "protect \(answers.proxy == nil ? "" : answers.host)/"
        return "# A rule is also for the paths below its path; \(otherPaths). A rule for them: \(rule) { ... }\n"
    }
}
