// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import HTTPSClient
package import RealmKit

/// The requests of the realm API.
package enum RealmAPIRequest {
    /// Makes a request with the token of the program: GET, or POST with a JSON body.
    package static func make(
        _ url: String,
        token: Secret?,
        body: Secret? = nil
    ) throws(HTTPSClientError) -> HTTPSRequest {
        var request = try HTTPSRequest(body == nil ? "GET" : "POST", HTTPSURL(url), body: body)
        try request.addField("Accept", value: "application/json")
        if let token { try request.addField("Authorization", prefix: "Bearer ", secret: token) }
        if body != nil { try request.addField("Content-Type", value: "application/json") }
        return request
    }

    /// Returns the JSON body of a check, without copies of the secrets that are not wiped; nil if no server reads it: a
    /// secret is not UTF-8, or contains NUL, or the body is too long.
    package static func body(
        username: Username,
        password: Secret,
        codes: [Secret],
        service: String,
        address: String? = nil
    ) -> Secret? {
        let secrets = [password] + codes
        guard secrets.allSatisfy({ secret in secret.withBytes { $0.isUTF8 && !$0.containsNUL } }) else { return nil }
        let name = Secret(utf8: username.text)
        let serviceName = Secret(utf8: service)
        let peer = address.map { Secret(utf8: $0) }
        let strings = [name, password, serviceName] + codes + (peer.map { [$0] } ?? [])
        let capacity = strings.reduce(96) { $0 + JSONEscapes.capacity(for: $1.count) + 1 }
        let body = Secret(capacity: capacity) { output in
            append("{\"username\":", name, to: &output)
            append(",\"password\":", password, to: &output)
            append(",\"service\":", serviceName, to: &output)
            if let peer { append(",\"address\":", peer, to: &output) }
            for (index, code) in codes.enumerated() { append(index == 0 ? ",\"codes\":[" : ",", code, to: &output) }
            for byte in (codes.isEmpty ? "}" : "]}").utf8 { output.append(byte) }
        }
        return body.count <= APIRequestBody.maximumBytes ? body : nil
    }

    private static func append(_ text: String, _ secret: Secret, to output: inout OutputSpan<UInt8>) {
        for byte in text.utf8 { output.append(byte) }
        secret.withBytes { JSONEscapes.required.append($0, to: &output) }
    }
}
