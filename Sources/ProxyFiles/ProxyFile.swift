// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A configuration file of a proxy, as in `docs/forward-auth`, for one application.
///
/// `Files` is a link to that folder, so the files of the documentation, which are tested with real proxies, are the files of the
/// program.
public struct ProxyFile: Sendable {
    /// The proxies whose files are tested with the real program.
    public enum Proxy: String, Sendable, CaseIterable {
        case nginx
        case caddy
        case haproxy

        /// The file from which the proxy reads the authority of the certificate of Gatehouse.
        public var authorityFile: String { "/etc/\(rawValue)/gatehouse-ca.pem" }

        /// A command that checks the files, and makes the running proxy read them.
        public var reloadCommand: String {
            switch self {
            case .nginx: "nginx -t && nginx -s reload"
            case .caddy: "caddy reload --config /etc/caddy/Caddyfile"
            case .haproxy: "haproxy -c -f /etc/haproxy/haproxy.cfg && systemctl reload haproxy"
            }
        }

        /// Returns the files from which the proxy reads the certificate of a host, and its key, in words.
        ///
        /// - Parameter host: The host name.
        /// - Returns: The paths.
        public func certificateFiles(of host: String) -> String {
            switch self {
            case .nginx, .caddy: "/etc/\(rawValue)/\(host).pem, and its key from /etc/\(rawValue)/\(host).key"
            case .haproxy: "/etc/haproxy/certificates/\(host).pem, with its key in the same file"
            }
        }
    }

    /// The name of the file.
    public let name: String
    /// The text of the file.
    public let text: String
    /// The path from which the proxy reads the file.
    public let place: String

    /// Returns the files of a proxy, with the page for the time when Gatehouse cannot be reached.
    ///
    /// The further applications and the sign-in host, which are examples in the files of the documentation, are left out.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - host: The host name of the application.
    ///   - application: The address of the application, such as 127.0.0.1:3000.
    /// - Returns: The files.
    public static func files(for proxy: Proxy, host: String, application: String) -> [ProxyFile] {
        let sources: [(name: String, bytes: [UInt8], place: String)] =
            switch proxy {
            case .nginx:
                [
                    ("gatehouse.conf", PackageResources.gatehouse_conf, "/etc/nginx/conf.d/gatehouse.conf"),
                    (
                        "gatehouse-server.conf", PackageResources.gatehouse_server_conf,
                        "/etc/nginx/snippets/gatehouse-server.conf"
                    ),
                    (
                        "gatehouse-application.conf", PackageResources.gatehouse_application_conf,
                        "/etc/nginx/snippets/gatehouse-application.conf"
                    ),
                    ("app.conf", PackageResources.app_conf, "/etc/nginx/conf.d/\(host).conf"),
                    ("unavailable.html", PackageResources.unavailable_html, "/etc/nginx/gatehouse-unavailable.html"),
                ]
            case .caddy:
                [
                    ("gatehouse.caddy", PackageResources.gatehouse_caddy, "/etc/caddy/gatehouse.caddy"),
                    ("Caddyfile", PackageResources.Caddyfile, "/etc/caddy/Caddyfile"),
                    (
                        "unavailable.html", PackageResources.unavailable_html,
                        "/etc/caddy/gatehouse/unavailable.html"
                    ),
                ]
            case .haproxy:
                [
                    ("haproxy.cfg", PackageResources.haproxy_cfg, "/etc/haproxy/haproxy.cfg"),
                    ("hosts.map", PackageResources.hosts_map, "/etc/haproxy/hosts.map"),
                    ("gatehouse.lua", PackageResources.gatehouse_lua, "/etc/haproxy/gatehouse.lua"),
                    ("unavailable.html", PackageResources.unavailable_html, "/etc/haproxy/unavailable.html"),
                ]
            }
        let examples = ExampleSites(map: String(decoding: PackageResources.hosts_map, as: UTF8.self))
        return sources.map { source in
            let text = examples.removed(from: String(decoding: source.bytes, as: UTF8.self), name: source.name)
                .replacing(ExampleSites.host, with: host)
                .replacing(ExampleSites.application, with: application)
            return ProxyFile(name: source.name, text: text, place: source.place)
        }
    }
}
