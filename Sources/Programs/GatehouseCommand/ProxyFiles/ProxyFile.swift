// SPDX-License-Identifier: Apache-2.0

/// A configuration file of a proxy, as in `docs/forward-auth`, with the applications of a user.
///
/// `Files` is a link to that folder, so the files of the documentation, which are tested with real proxies, are the files of the
/// program.
struct ProxyFile {
    /// The proxies whose files are tested with the real program.
    enum Proxy: String, CaseIterable {
        case nginx
        case caddy
        case haproxy

        /// The file from which the proxy reads the authority of the certificate of Gatehouse.
        var authorityFile: String { "/etc/\(rawValue)/gatehouse-ca.pem" }

        /// The commands, for a shell, that make the proxy read the files; `systemctl` starts it if it does not run.
        var reloadCommands: [String] {
            switch self {
            case .nginx: ["nginx -t && systemctl reload-or-restart nginx"]
            case .caddy:
                [
                    // A Caddyfile that exists keeps its sites.
                    #"for line in 'import gatehouse.caddy' 'import gatehouse/*.caddy'; do "#
                        + #"grep -qsxF "$line" /etc/caddy/Caddyfile || "#
                        + #"printf '\n%s\n' "$line" >>/etc/caddy/Caddyfile; done"#,
                    "systemctl reload-or-restart caddy",
                ]
            case .haproxy: ["haproxy -c -f /etc/haproxy/haproxy.cfg && systemctl reload-or-restart haproxy"]
            }
        }

        /// The command that replaces the last of ``reloadCommands`` on a machine without systemd.
        var reloadWithoutSystemd: String {
            switch self {
            case .nginx: "nginx -s reload, or nginx if none runs"
            case .caddy: "caddy reload --config /etc/caddy/Caddyfile, or start it if none runs"
            case .haproxy: "a restart of haproxy"
            }
        }

        /// The files from which the proxy reads the certificate of a host, and its key, in words.
        func certificateFiles(of host: String) -> String {
            let both = "/etc/\(rawValue)/\(host).pem, and its key from /etc/\(rawValue)/\(host).key"
            return switch self {
            case .nginx: both
            case .caddy: "\(both), as its user: install -g caddy -m 640 KEY /etc/caddy/\(host).key"
            case .haproxy: "/etc/haproxy/certificates/\(host).pem, with its key in the same file"
            }
        }
    }

    /// An application behind a proxy.
    struct Application {
        let host: String
        /// The address, such as `127.0.0.1:3000`.
        let address: String
    }

    let name: String
    let text: String
    /// The path from which the proxy reads the file.
    let place: String
    /// True if the file is that of one host, and not for all hosts of the proxy.
    let isOfOneHost: Bool
    /// The lines of ``text`` that a file which exists at ``place`` needs for the applications; empty if it needs none.
    let addedLines: String

    /// Returns the files of a proxy, with the page for the time when Gatehouse cannot be reached.
    ///
    /// They are those of the documentation, with these hosts instead of the examples. The files that all hosts share are
    /// the first.
    static func files(for proxy: Proxy, applications: [Application], signInHost: String?) -> [ProxyFile] {
        let folder = "/etc/\(proxy.rawValue)"
        switch proxy {
        case .nginx:
            let shared = [
                ("gatehouse.conf", PackageResources.gatehouse_conf, "conf.d/gatehouse.conf"),
                ("gatehouse-server.conf", PackageResources.gatehouse_server_conf, "snippets/gatehouse-server.conf"),
                (
                    "gatehouse-application.conf", PackageResources.gatehouse_application_conf,
                    "snippets/gatehouse-application.conf"
                ),
                ("unavailable.html", PackageResources.unavailable_html, "gatehouse-unavailable.html"),
            ]
            return shared.map { ProxyFile($0, $1, at: "\(folder)/\($2)") }
                + hosts(applications, signInHost, in: "\(folder)/conf.d", ending: "conf") { application in
                    let text = String(decoding: PackageResources.app_conf, as: UTF8.self)
                    return ExampleSites.replaced(text, application)
                } signIn: { host in
                    let text = String(decoding: PackageResources.sign_in_host_conf, as: UTF8.self)
                    return ExampleSites.replaced(text, signInHost: host)
                }
        case .caddy:
            let sites = ExampleSites(PackageResources.Caddyfile)
            return [
                ProxyFile("gatehouse.caddy", PackageResources.gatehouse_caddy, at: "\(folder)/gatehouse.caddy"),
                ProxyFile(
                    "unavailable.html",
                    PackageResources.unavailable_html,
                    at: "\(folder)/gatehouse/unavailable.html"
                ),
            ]
                + hosts(applications, signInHost, in: "\(folder)/gatehouse", ending: "caddy") { application in
                    sites.sites([application], signInHost: nil, hasComments: true)
                } signIn: { host in
                    sites.sites([], signInHost: host, hasComments: true)
                }
        case .haproxy:
            let shared = [
                ("haproxy.cfg", PackageResources.haproxy_cfg), ("hosts.map", PackageResources.hosts_map),
                ("gatehouse.lua", PackageResources.gatehouse_lua),
                ("unavailable.html", PackageResources.unavailable_html),
            ]
            return shared.map { name, bytes in
                let sites = ExampleSites(bytes)
                return ProxyFile(
                    name: name,
                    text: sites.file(applications, signInHost: signInHost),
                    place: "\(folder)/\(name)",
                    isOfOneHost: false,
                    addedLines: sites.sites(applications, signInHost: signInHost, hasComments: false)
                )
            }
        }
    }
}

extension ProxyFile {
    /// Creates a file that all hosts share.
    private init(_ name: String, _ bytes: [UInt8], at place: String) {
        let text = String(decoding: bytes, as: UTF8.self)
        self.init(name: name, text: text, place: place, isOfOneHost: false, addedLines: "")
    }

    private static func hosts(
        _ applications: [Application],
        _ signInHost: String?,
        in folder: String,
        ending: String,
        application: (Application) -> String,
        signIn: (String) -> String
    ) -> [ProxyFile] {
        let texts =
            applications.map { ($0.host, application($0)) } + [signInHost].compactMap(\.self).map { ($0, signIn($0)) }
        return texts.map { host, text in
            let name = "\(host).\(ending)"
            return ProxyFile(name: name, text: text, place: "\(folder)/\(name)", isOfOneHost: true, addedLines: "")
        }
    }
}
