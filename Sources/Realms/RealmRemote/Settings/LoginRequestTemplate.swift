// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import RealmKit

/// The requests for logins at a service: the parts that the settings give, to which a user name and a password are
/// added.
struct LoginRequestTemplate: Sendable {
    enum Credentials: Sendable {
        /// The field `Authorization` with the scheme Basic (RFC 7617).
        case basic
        case json(BodyTemplate)
    }

    let method: String
    /// True if another Gatehouse checks the logins by its realm API.
    let isRealmAPI: Bool
    let credentials: Credentials
    let fields: [(name: String, value: String)]
    let token: Secret?

    /// Returns the request for one server, with a user name and a password.
    ///
    /// The result is nil if the scheme cannot carry them: with Basic, the user name has no colon, and both have no
    /// control characters (RFC 7617 2); in JSON, both are UTF-8. Another Gatehouse rejects a password with a NUL
    /// character and a body that is too long with the status 400 or 413, which would look like an outage.
    func request(to url: HTTPSURL, name: Username, password: Secret) throws(HTTPSClientError) -> HTTPSRequest? {
        var request = try empty(url)
        switch credentials {
        case .basic:
            guard let encoded = Self.basic(name, password) else { return nil }
            try request.addField("Authorization", prefix: "Basic ", secret: encoded)
        case .json(let template):
            guard let body = template.filled(name: name, password: password) else { return nil }
            let isReadable = body.count <= APIRequestBody.maximumBytes && !password.withBytes { $0.containsNUL }
            guard isReadable || !isRealmAPI else { return nil }
            request.body = body
            try request.addField("Content-Type", value: "application/json")
        }
        return request
    }

    /// Returns a request without credentials of a user.
    func empty(_ url: HTTPSURL) throws(HTTPSClientError) -> HTTPSRequest {
        var request = try HTTPSRequest(method, url)
        for field in fields { try request.addField(field.name, value: field.value) }
        if let token { try request.addField("Authorization", prefix: "Bearer ", secret: token) }
        return request
    }

    private static func basic(_ name: Username, _ password: Secret) -> Secret? {
        guard !name.text.utf8.contains(UInt8(ascii: ":")) else { return nil }
        let isUsable = password.withBytes { bytes in
            for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F { return false }
            return true
        }
        guard isUsable else { return nil }
        let nameBytes = name.text.utf8Span.span
        let plain = Secret(capacity: nameBytes.count + 1 + password.count) { output in
            for index in nameBytes.indices { output.append(nameBytes[index]) }
            output.append(UInt8(ascii: ":"))
            password.withBytes { bytes in for index in bytes.indices { output.append(bytes[index]) } }
        }
        return plain.withBytes { bytes in
            let count = Base64.padded.length(ofBytes: bytes.count)
            return Secret(capacity: count) { output in
                for _ in 0..<count { output.append(0) }
                var text = output.mutableSpan
                Base64.padded.encode(bytes, into: &text)
            }
        }
    }
}
