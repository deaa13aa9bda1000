// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import CommandSupport
internal import Files
internal import Glibc
internal import RealmConfiguration
internal import RealmKit

extension InitAnswers {
    static func path(_ text: String) throws(CommandError) -> String {
        guard !text.utf8.contains(UInt8(ascii: ",")) else {
            throw .usage(
                "one path is protected, not \(text): write a protect block for each further path to realms.conf"
            )
        }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"{}*".utf8.contains($0) }
        guard text.hasPrefix("/"), isPlain else {
            throw .usage("a path such as / or /welcome is protected, not \(text)")
        }
        return text
    }

    static func users(_ text: String) throws(CommandError) -> Users {
        switch text {
        case "new": return .new
        case "pam": return .pam
        case _:
            if let kind = ServerUsers.Kind(rawValue: text) { return .servers(ServerUsers(kind: kind)) }
            guard text.contains("/") || text.contains(".") else {
                throw .usage("the users are new, pam, ldap, sql, or the path of a file such as ./users, not \(text)")
            }
            let whole = try absolutePath(text)
            if NewFiles.exists(whole) { return .file(whole) }
            let advice = "name a file with users, or new for users in a database of Gatehouse"
            throw CommandError(.configuration, "there is no file \(whole): \(advice)")
        }
    }

    /// Returns a path for a configuration, in which relative paths are relative to the configuration.
    static func absolutePath(_ text: String) throws(CommandError) -> String {
        let path = try plainPath(text)
        let relative = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
        let whole = path.hasPrefix("/") ? path : "\(FilePath.current ?? ".")/\(relative)"
        guard whole.utf8.allSatisfy({ !"\"\\${}".utf8.contains($0) }) else {
            throw .usage("the path must not contain \" \\ $ { }: \(whole)")
        }
        return whole
    }

    /// Returns a path that a shell would not expand: the file would not be the one that the shell means.
    private static func plainPath(_ text: String) throws(CommandError) -> String {
        guard Printable.line(text) == text else {
            throw .usage("\(Printable.line(text)): a path must not contain control characters")
        }
        if let variable = UnexpandedPath.beginning(of: text) {
            throw .usage(
                "\(variable) is not expanded in \(text): write the whole path, or ./\(text) for a path of this name"
            )
        }
        return text
    }

    static func folder(_ text: String) throws(CommandError) -> String {
        var path = try plainPath(text)
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        // A command would read a path that begins with - as an option.
        return path.hasPrefix("-") ? "./\(path)" : path
    }

    static func state(_ text: String) throws(CommandError) -> String {
        let path = try folder(text)
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ !"\"\\$".utf8.contains($0) }) else {
            throw .usage("--state takes an absolute path without \" \\ $, such as /var/lib/gatehouse, not \(text)")
        }
        return path
    }

    static func proxy(_ text: String) throws(CommandError) -> ProxyFile.Proxy? {
        if text == "none" { return nil }
        guard let proxy = ProxyFile.Proxy(rawValue: text) else {
            throw .usage("the proxy is none, nginx, caddy or haproxy, not \(text)")
        }
        return proxy
    }

    static func host(_ text: String) throws(CommandError) -> String {
        guard let name = hostName(text[...]) else {
            if let meant = hostOfURL(text) {
                let parts = text.contains("://") ? "the scheme, the port and the path" : "the port and the path"
                throw .usage("the host is a name, not \(text): leave out \(parts), as in \(meant)")
            }
            throw .usage("\(text) is not a host name such as app.example.com")
        }
        guard name != "gatehouse", name.contains(".") || !name.hasPrefix("gatehouse-") else {
            throw .usage("\(name) is a name in the files of proxies: use another host name")
        }
        return name
    }

    /// The host name in a URL, or before a port or a path; nil if there is none.
    private static func hostOfURL(_ text: String) -> String? {
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        return hostName(text[start...].prefix { $0 != ":" && $0 != "/" })
    }

    /// The canonical form of a host name or an IPv4 address; nil if the text is neither.
    private static func hostName(_ text: Substring) -> String? {
        guard let name = HostName.canonicalInConfiguration(text) else { return nil }
        // A last label of digits is that of an IPv4 address (WHATWG URL, section 3.5).
        guard let last = name.split(separator: ".").last, last.utf8.allSatisfy(ASCII.isDigit) else { return name }
        var address = in_addr()
        return unsafe inet_pton(AF_INET, name, &address) == 1 ? name : nil
    }

    static func address(_ text: String) throws(CommandError) -> String {
        let fault = CommandError.usage(
            "the address of an application is HOST:PORT, such as 127.0.0.1:3000 or [::1]:3000, not \(text)"
        )
        guard let colon = text.lastIndex(of: ":") else { throw fault }
        let host = text[..<colon]
        let port = text[text.index(after: colon)...]
        guard !port.isEmpty, port.utf8.allSatisfy(ASCII.isDigit), port.utf8.first != UInt8(ascii: "0"),
            UInt16(port) != nil
        else { throw fault }
        guard host.hasPrefix("["), host.hasSuffix("]") else {
            guard let name = hostName(host) else { throw fault }
            return "\(name):\(port)"
        }
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1 else { throw fault }
        return text
    }
}
