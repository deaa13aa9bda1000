// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections

/// The properties of a ``RemoteRealm``, checked.
struct RemoteSettings: Sendable {
    let servers: [HTTPSURL]
    let requests: LoginRequestTemplate
    let format: AnswerFormat
    /// True if a request is sent to the next server after a server was reached but is unavailable.
    let asksNextIfUnavailable: Bool

    init(_ properties: RealmProperties) throws(BadRealm) {
        let isGatehouse = properties.has("gatehouse")
        if isGatehouse { try Self.checkPreset(properties) }
        servers = try Self.servers(properties, setting: isGatehouse ? "gatehouse" : "url")
        requests = try Self.requests(properties, isGatehouse: isGatehouse)
        format = try isGatehouse ? Self.gatehouse() : Self.format(properties)
        asksNextIfUnavailable = try properties.string("fail-over") == "unavailable"
        try Result { () throws(HTTPSClientError) in for server in servers { _ = try requests.empty(server) } }
            .mapError { BadRealm($0.cause, setting: "fields") }.get()
    }

    private static func checkPreset(_ properties: RealmProperties) throws(BadRealm) {
        let preset = [
            "url", "method", "credentials", "body-template", "user-path", "groups-path", "reason-path",
            "attribute-paths", "attributes-path", "outcomes",
        ]
        for name in preset where properties.has(name) { throw BadRealm("is set by gatehouse already", setting: name) }
    }

    private static func servers(_ properties: RealmProperties, setting: String) throws(BadRealm) -> [HTTPSURL] {
        guard properties.has(setting), case let texts = try properties.list(setting), !texts.isEmpty else {
            throw BadRealm("must be set", setting: setting)
        }
        guard texts.count <= 16 else { throw BadRealm("takes at most 16 servers", setting: setting) }
        let servers = try Result { () throws(HTTPSClientError) in
            try texts.map { text throws(HTTPSClientError) in try HTTPSURL(text) }
        }.mapError { BadRealm($0.cause, setting: setting) }.get()
        var names: Set<String> = []
        for server in servers where !names.insert(name(of: server)).inserted {
            let problem = "twice; a password must not be sent twice to the same server"
            throw BadRealm("names the server \(server.authority) \(problem)", setting: setting)
        }
        return servers
    }

    /// Returns the host and the port of a server, in one spelling.
    private static func name(of server: HTTPSURL) -> String {
        // An IPv6 address has several spellings.
        let address = NetworkAddress(server.host[...])
        return "\(address.map { "\($0.bits)" } ?? server.host):\(server.port)"
    }

    private static func requests(
        _ properties: RealmProperties,
        isGatehouse: Bool
    ) throws(BadRealm) -> LoginRequestTemplate {
        let kind = try properties.optional("credentials")
        let template = try properties.optional("body-template")
        let isJSON = isGatehouse || kind.map { $0.hasBytes(of: "json") } ?? (template != nil)
        let token = properties.has("token") ? try properties.secret("token") : nil
        guard isJSON || template == nil else { throw BadRealm("needs credentials json", setting: "body-template") }
        guard isJSON || token == nil else {
            throw BadRealm("cannot be sent together with Basic credentials", setting: "token")
        }
        let method = try properties.optional("method") ?? (isJSON ? "POST" : "GET")
        guard !isJSON || method != "GET" else { throw BadRealm("must be POST for credentials json", setting: "method") }
        let fields = try fields(properties)
        let credentials: LoginRequestTemplate.Credentials =
            try properties.reading("body-template") { () throws(BadValue) in
                isJSON ? .json(try BodyTemplate(template ?? #"{"username":"%u","password":"%p"}"#)) : .basic
            }
        return LoginRequestTemplate(
            method: method,
            isRealmAPI: isGatehouse,
            credentials: credentials,
            fields: fields,
            token: token
        )
    }

    /// Reads fields such as `Name: value`.
    private static func fields(_ properties: RealmProperties) throws(BadRealm) -> [(name: String, value: String)] {
        guard properties.has("fields") else { return [] }
        var fields: [(name: String, value: String)] = []
        for word in try properties.list("fields") {
            guard let colon = word.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                throw BadRealm("takes fields such as \"X-Key: value\", not \(word)", setting: "fields")
            }
            let name = String(word[..<colon])
            guard !["authorization", "content-type", "user-agent"].contains(name.lowercased()) else {
                throw BadRealm("cannot set \(name)", setting: "fields")
            }
            fields.append((name, String(word[word.index(after: colon)...].drop { $0 == " " })))
        }
        return fields
    }

    private static func gatehouse() throws(BadRealm) -> AnswerFormat {
        do throws(BadValue) { return try .gatehouse() } catch { throw BadRealm("\(error)") }
    }

    private static func format(_ properties: RealmProperties) throws(BadRealm) -> AnswerFormat {
        func list(_ setting: String) throws(BadRealm) -> [String] {
            properties.has(setting) ? try properties.list(setting) : []
        }
        func path(_ setting: String, _ end: String = "") throws(BadRealm) -> JSONPath? {
            guard let text = try properties.optional(setting) else { return nil }
            return try self.path(text + end, setting: setting)
        }
        let outcomes = try list("outcomes")
        var format = AnswerFormat(
            outcomes: try properties.reading("outcomes") { () throws(BadValue) in try OutcomeTable(outcomes) }
        )
        format.userPath = try path("user-path")
        format.groupsPath = try path("groups-path")
        for text in try list("reason-path") { format.reasonPaths.append(try self.path(text, setting: "reason-path")) }
        format.attributeMembers = try path("attributes-path", "/*")
        for word in try list("attribute-paths") { format.attributes.append(try attribute(word)) }
        return format
    }

    private static func attribute(_ word: String) throws(BadRealm) -> (name: String, path: JSONPath) {
        guard let sign = word.firstIndex(of: "="), sign != word.startIndex else {
            throw BadRealm("takes entries such as mail=/user/mail, not \(word)", setting: "attribute-paths")
        }
        let text = String(word[word.index(after: sign)...])
        guard UserAttribute.isValid(name: String(word[..<sign])) else {
            throw BadRealm("has an entry whose name is not that of an attribute: \(word)", setting: "attribute-paths")
        }
        return (String(word[..<sign]), try path(text, setting: "attribute-paths"))
    }

    private static func path(_ text: String, setting: String) throws(BadRealm) -> JSONPath {
        guard let path = JSONPath(text) else {
            throw BadRealm("takes a JSON Pointer such as /user/name, with at most one *, not \(text)", setting: setting)
        }
        return path
    }
}
