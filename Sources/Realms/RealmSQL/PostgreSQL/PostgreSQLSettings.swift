// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Bytes
internal import CPostgres
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Synchronization

/// The servers of a database of PostgreSQL, and the parameters of connections to them.
///
/// All parameters are set, so that neither the environment nor the files of the system's user change a connection.
struct PostgreSQLSettings: Sendable {
    /// One server: the parameters that differ.
    private struct Server: Sendable {
        let host: String
        let address: String?
        let port: String
        var isSocket: Bool { host.hasPrefix("/") || host.hasPrefix("@") }

        var isLocal: Bool {
            let place = address ?? host
            return isSocket || place == "localhost" || NetworkAddress(place[...])?.isLoopback == true
        }

        var name: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The names that `database` may contain.
    private static let names: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "sslmode", "application_name", "options", "channel_binding",
    ]

    /// A path that cannot exist, for the files that libpq would otherwise look for in the home folder.
    private static let noFile = "/dev/null/none"

    let servers: SQLServers

    /// Reads the property `database`, a connection URI or a list of `name=value`, and the properties of the connection.
    init(_ text: String, properties: RealmProperties, limits: SQLLimits) throws(BadRealm) {
        var values = try Self.parse(text)
        for name in values.keys.sorted() where !Self.names.contains(name) {
            throw BadRealm(Self.advice(name), setting: "database")
        }
        let servers = try Self.servers(values)
        for name in ["host", "hostaddr", "port"] { values[name] = nil }
        let mode = try Self.mode(values["sslmode"], servers: servers)
        if properties.has("db-user") {
            guard values["user"] == nil else { throw BadRealm("is in database already", setting: "db-user") }
            values["user"] = try properties.string("db-user")
        }
        guard values["user"] != nil else { throw BadRealm("must be set, or the user in database", setting: "db-user") }
        guard !properties.has("password") || !properties.has("db-password") else {
            throw BadRealm("must not be set together with db-password", setting: "password")
        }
        let passwordName = properties.has("password") ? "password" : "db-password"
        let password = properties.has(passwordName) ? try properties.secret(passwordName) : nil
        if password?.withBytes({ $0.containsNUL }) == true {
            throw BadRealm("contains a NUL byte", setting: passwordName)
        }
        values["dbname"] = values["dbname"] ?? values["user"]
        values["application_name"] = values["application_name"] ?? "gatehouse"
        values["channel_binding"] = values["channel_binding"] ?? "prefer"
        let fixed = [
            "client_encoding": "UTF8", "gssencmode": "disable", "target_session_attrs": "any", "sslcompression": "0",
            "sslsni": "1", "ssl_min_protocol_version": "TLSv1.2", "passfile": Self.noFile, "sslcrl": Self.noFile,
            "connect_timeout": "\(max(2, limits.connect.components.seconds + 1))",
        ]
        values.merge(fixed) { _, fixed in fixed }
        try Self.addFiles(&values, properties: properties)
        let complete = servers.map { server in
            var own = values
            (own["host"], own["hostaddr"], own["port"]) = (server.host, server.address, server.port)
            own["sslmode"] = server.isSocket ? "disable" : mode
            return own
        }
        try Self.checkEnvironment(complete)
        let names = servers.map(\.name)
        let state = PostgreSQLPoolState()
        func make(isReadOnly: Bool) -> Servers<SQLConnection> {
            Servers(names) { (number: Int, call: ServerCall) throws(ServerFault) -> SQLConnection in
                let connection = try PostgreSQLConnection(
                    complete[number],
                    password: password,
                    isReadOnly: isReadOnly,
                    limits: limits,
                    state: state,
                    call: call
                )
                return SQLConnection(connection, server: names[number])
            }
        }
        self.servers = SQLServers(readers: make(isReadOnly: true), writers: make(isReadOnly: false))
    }

    // MARK: Parsing

    /// Parses a URI or a list by libpq, which reads neither the environment nor files for it.
    private static func parse(_ text: String) throws(BadRealm) -> [String: String] {
        guard !text.utf8.contains(0) else { throw BadRealm("contains a NUL byte", setting: "database") }
        var problem: UnsafeMutablePointer<CChar>?
        let options = unsafe PQconninfoParse(text, &problem)
        // The message may contain a password.
        unsafe PQfreemem(problem)
        guard let options = unsafe options else {
            throw BadRealm(
                "is neither a connection URI such as postgresql://db.example.org/app nor a list such as "
                    + "host=db.example.org dbname=app",
                setting: "database"
            )
        }
        defer { unsafe PQconninfoFree(options) }
        var values: [String: String] = [:]
        var next = unsafe options
        while let keyword = unsafe next.pointee.keyword {
            if let value = unsafe next.pointee.val { unsafe values[String(cString: keyword)] = String(cString: value) }
            unsafe next += 1
        }
        return values.filter { !$0.value.isEmpty }
    }

    private static func advice(_ name: String) -> String {
        switch name {
        case "password": "contains a password, which messages could show; set it with the property password"
        case "sslrootcert": "sets sslrootcert; set ca-file"
        case "sslcert": "sets sslcert; set client-certificate"
        case "sslkey": "sets sslkey; set client-key"
        case "connect_timeout": "sets connect_timeout; set connect-timeout"
        case "target_session_attrs":
            "sets target_session_attrs; reads use any server, and changes of passwords use the primary one"
        case "load_balance_hosts": "sets load_balance_hosts; set servers round-robin"
        case "service": "sets service; files of services are not read"
        case "passfile": "sets passfile; such files are not read; set the property password"
        default: "sets \(name), which is not supported"
        }
    }

    private static func servers(_ values: [String: String]) throws(BadRealm) -> [Server] {
        func list(_ name: String) -> [String] {
            values[name].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts.count, addresses.count, 1)
        guard count <= 16 else { throw BadRealm("takes at most 16 servers", setting: "database") }
        guard hosts.isEmpty || hosts.count == count, addresses.isEmpty || addresses.count == count,
            ports.count <= 1 || ports.count == count
        else { throw BadRealm("has different numbers of hosts, addresses and ports", setting: "database") }
        var servers: [Server] = []
        for number in 0..<count {
            let address = addresses.isEmpty || addresses[number].isEmpty ? nil : addresses[number]
            let host = hosts.isEmpty || hosts[number].isEmpty ? address ?? "/var/run/postgresql" : hosts[number]
            let port = ports.count == 1 ? ports[0] : ports.isEmpty ? "" : ports[number]
            guard port.isEmpty || (Int(port).map { (1...65535).contains($0) } ?? false) else {
                throw BadRealm("has a port that is not a number from 1 to 65535", setting: "database")
            }
            servers.append(Server(host: host, address: address, port: port.isEmpty ? "5432" : port))
        }
        return servers
    }

    private static func mode(_ text: String?, servers: [Server]) throws(BadRealm) -> String {
        let advice = "remove it: the default is verify-full, with the certificates of ca-file"
        switch text {
        case nil, "verify-full": return "verify-full"
        case "disable":
            guard let remote = servers.first(where: { !$0.isLocal }) else { return "disable" }
            let problem = "sets sslmode=disable for \(remote.host), which is not this machine; \(advice)"
            throw BadRealm(problem, setting: "database")
        // Modes that do not verify the name of the server, or nothing at all.
        case "allow", "prefer", "require", "verify-ca":
            let problem = "sets sslmode=\(text ?? ""), which another machine in the network can defeat; \(advice)"
            throw BadRealm(problem, setting: "database")
        default: throw BadRealm("sets an unknown sslmode", setting: "database")
        }
    }

    // MARK: Files and environment

    private static func addFiles(_ values: inout [String: String], properties: RealmProperties) throws(BadRealm) {
        values["sslrootcert"] = SettingsFile.systemAuthorities
        if properties.has("ca-file") {
            let path = try properties.string("ca-file")
            _ = try SettingsFile.certificates(path, setting: "ca-file")
            values["sslrootcert"] = path
        }
        (values["sslcert"], values["sslkey"]) = (noFile, noFile)
        guard let files = try ClientCertificateFiles(properties) else { return }
        (values["sslcert"], values["sslkey"]) = (files.chain, files.key)
    }

    /// Rejects variables of the environment that would add a parameter.
    ///
    /// libpq reads them for every parameter without a value, such as PGHOSTADDR, which would replace the server.
    private static func checkEnvironment(_ servers: [[String: String]]) throws(BadRealm) {
        guard let options = unsafe PQconndefaults() else { return }
        defer { unsafe PQconninfoFree(options) }
        var next = unsafe options
        while let keyword = unsafe next.pointee.keyword {
            defer { unsafe next += 1 }
            guard let variable = unsafe next.pointee.envvar, let value = unsafe getenv(variable),
                unsafe value.pointee != 0
            else { continue }
            let name = unsafe String(cString: keyword)
            // The password is only missing if none is configured, and hostaddr if the name is to be resolved.
            if servers.contains(where: { $0[name] == nil }) {
                throw BadRealm(
                    "would be changed by the environment variable \(unsafe String(cString: variable)); unset it",
                    setting: "database"
                )
            }
        }
    }
}

/// The state that the connections to the servers of a realm share.
final class PostgreSQLPoolState: Sendable {
    /// True if statements are not prepared, because a pooler in front of the server does not keep them.
    let isUnprepared = Atomic(false)
}
#endif
