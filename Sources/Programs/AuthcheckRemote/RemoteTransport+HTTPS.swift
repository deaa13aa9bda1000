// SPDX-License-Identifier: Apache-2.0

public import AuthcheckCommand
internal import HTTPSClient
internal import OpenSSLKit

extension RemoteTransport {
    /// Asks servers over HTTPS.
    ///
    /// A request takes at most one minute.
    public static let https = RemoteTransport(
        send: { request throws(RemoteTransport.Fault) in
            let trust: HTTPSTrust
            switch request.trust {
            case .system: trust = .system
            case .key(let digest): trust = .pinnedKeys([KeyPin(digest)])
            case .authorities(let pem, let file):
                trust = try Result { () throws(OpenSSLError) in try .certificateAuthorities(pem: pem, name: file) }
                    .mapError { RemoteTransport.Fault("\($0)") }.get()
            }
            do throws(HTTPSClientError) {
                let client = try client(trust)
                defer { client.close() }
                return try await client.response(of: request)
            } catch {
                throw RemoteTransport.Fault(isUntrusted: error.code == .certificateRejected, error.cause)
            }
        },
        presentedKey: { url throws(RemoteTransport.Fault) in
            let presentedKey = PresentedKey()
            do throws(HTTPSClientError) {
                let client = try client(.noServer(recording: presentedKey))
                defer { client.close() }
                _ = try await client.response(to: HTTPSRequest("GET", HTTPSURL(url)))
            } catch {
                guard error.code == .certificateRejected, let digest = presentedKey.digest else {
                    throw RemoteTransport.Fault(error.cause)
                }
                return digest
            }
            throw RemoteTransport.Fault("the server has presented no certificate")
        }
    )

    private static func client(_ trust: HTTPSTrust) throws(HTTPSClientError) -> HTTPSClient {
        var configuration = HTTPSClientConfiguration(trust: trust)
        configuration.userAgent = "authcheck"
        configuration.connectTimeout = .seconds(10)
        configuration.timeout = .seconds(60)
        return try HTTPSClient(configuration)
    }
}

extension HTTPSClient {
    fileprivate func response(
        of request: RemoteTransport.Request
    ) async throws(HTTPSClientError) -> RemoteTransport.Response {
        var sent = try HTTPSRequest(request.body == nil ? "GET" : "POST", HTTPSURL(request.url))
        try sent.addField("Accept", value: "application/json")
        if let token = request.token { try sent.addField("Authorization", prefix: "Bearer ", secret: token) }
        if let body = request.body {
            try sent.addField("Content-Type", value: "application/json")
            sent.body = .secret(body)
        }
        let answer = try await response(to: sent)
        return RemoteTransport.Response(
            status: answer.response.status,
            contentType: answer.response["content-type"].first,
            body: answer.body
        )
    }
}
