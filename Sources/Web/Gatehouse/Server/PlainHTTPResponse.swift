// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The response to a plain HTTP request on the TLS port.
///
/// It is the same for all requests: nothing of a request that others can read and change is used.
enum PlainHTTPResponse {
    static let bytes: ByteBuffer = {
        let body = """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <title>400 Bad Request</title>
            <h1>400 Bad Request</h1>
            <p>The request was sent without encryption, and this port accepts only HTTPS. Begin the address with <b>https://</b>.</p>
            </html>

            """
        let head = """
            HTTP/1.1 400 Bad Request\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Content-Security-Policy: default-src 'none'\r
            Cache-Control: no-store\r
            Connection: close\r
            \r

            """
        return ByteBuffer(string: head + body)
    }()
}
