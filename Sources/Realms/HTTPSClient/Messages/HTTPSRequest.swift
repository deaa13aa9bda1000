// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import NIOCore
public import RealmKit

/// A request to an HTTPS service.
///
/// The fields that describe the message itself (`Host`, `Content-Length`, `Connection` and others) are set by the
/// client, and cannot be added.
public struct HTTPSRequest: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// The address.
    public let url: HTTPSURL
    /// The body, which is copied into one buffer that is wiped when it is sent; nil for none.
    public var body: Secret?
    /// The time limit for this request; nil for the limit of the client.
    public var timeout: Duration?
    private(set) var fields: [(name: String, prefix: String, secret: Secret?)] = []

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: A token of RFC 9110 5.6.2, such as `GET` or `POST`. `CONNECT` is not supported.
    ///   - url: The address.
    ///   - body: The body; nil for none.
    /// - Throws: ``HTTPSClientError`` with code `invalidRequest` for an invalid method.
    public init(_ method: String = "GET", _ url: HTTPSURL, body: Secret? = nil) throws(HTTPSClientError) {
        guard (1...32).contains(method.utf8.count), method.utf8.allSatisfy(ASCII.isToken), method != "CONNECT" else {
            throw HTTPSClientError(.invalidRequest, "the method is not valid")
        }
        self.method = method
        self.url = url
        self.body = body
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - name: The name, a token of RFC 9110 5.6.2.
    ///   - value: The value.
    /// - Throws: ``HTTPSClientError`` with code `invalidRequest` if the name is not allowed, or if the value contains a
    ///   control character, such as a line break, or is longer than 8,192 bytes.
    public mutating func addField(_ name: String, value: String) throws(HTTPSClientError) {
        try add(name, prefix: value, secret: nil)
    }

    /// Adds a field with a confidential value, such as `Authorization`.
    ///
    /// - Parameters:
    ///   - name: The name, a token of RFC 9110 5.6.2.
    ///   - prefix: The text before the secret, such as `Bearer` and a blank.
    ///   - secret: The confidential part of the value.
    /// - Throws: ``HTTPSClientError`` with code `invalidRequest` if the name is not allowed, or if the value contains a
    ///   control character, such as a line break, or is longer than 8,192 bytes.
    public mutating func addField(_ name: String, prefix: String = "", secret: Secret) throws(HTTPSClientError) {
        try add(name, prefix: prefix, secret: secret)
    }

    private mutating func add(_ name: String, prefix: String, secret: Secret?) throws(HTTPSClientError) {
        guard (1...256).contains(name.utf8.count), name.utf8.allSatisfy(ASCII.isToken) else {
            throw HTTPSClientError(.invalidRequest, "the name of a field is not valid")
        }
        // RFC 9110 7.6.1 and 6.6.2, RFC 9112 6 and 3.2.
        let reserved = [
            "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
            "transfer-encoding", "upgrade", "accept-encoding",
        ]
        guard !reserved.contains(name.lowercased()) else {
            throw HTTPSClientError(.invalidRequest, "the field \(name) is set by the client")
        }
        let isValid =
            secret?.withBytes { bytes in bytes.indices.allSatisfy { ASCII.isFieldContent(bytes[$0]) } } ?? true
        guard isValid, prefix.utf8.allSatisfy(ASCII.isFieldContent), prefix.utf8.count + (secret?.count ?? 0) <= 8192
        else { throw HTTPSClientError(.invalidRequest, "the value of the field \(name) is not valid") }
        fields.append((name, prefix, secret))
    }
}

extension HTTPSRequest {
    /// Returns the bytes of the request (RFC 9112 2.1), in a buffer that never grows, so that no copy of a secret stays
    /// in memory.
    func encoded(userAgent: String) -> ByteBuffer {
        var lines = "\(method) \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nAccept-Encoding: identity\r\n"
        if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) { lines += "User-Agent: \(userAgent)\r\n" }
        let count = body?.count ?? 0
        if count > 0 || method != "GET" && method != "HEAD" { lines += "Content-Length: \(count)\r\n" }
        let size = fields.reduce(0) { size, field in
            size + field.name.utf8.count + field.prefix.utf8.count + (field.secret?.count ?? 0) + 4
        }
        var buffer = ByteBufferAllocator().buffer(capacity: lines.utf8.count + size + 2 + count)
        buffer.writeString(lines)
        for field in fields {
            buffer.writeString("\(field.name): \(field.prefix)")
            if let secret = field.secret { buffer.write(secret) }
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
        if let body { buffer.write(body) }
        return buffer
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ secret: Secret) {
        secret.withBytes { span in _ = unsafe span.withUnsafeBytes { unsafe writeBytes($0) } }
    }

    /// Overwrites the whole buffer, but not the memory of another buffer that has shared it before.
    mutating func wipe() {
        moveReaderIndex(to: 0)
        unsafe withUnsafeMutableReadableBytes { bytes in for index in bytes.indices { unsafe bytes[index] = 0 } }
        clear()
    }
}
