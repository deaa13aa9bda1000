// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import RealmKit

extension HTTPSRequest {
    /// Returns the bytes of the request (RFC 9112 2.1), in a buffer that never grows, so that no copy of a secret stays
    /// in memory.
    func encoded(userAgent: String) -> ByteBuffer {
        var lines = "\(method) \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nAccept-Encoding: identity\r\n"
        if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) { lines += "User-Agent: \(userAgent)\r\n" }
        let count = body.count
        if count > 0 || method != "GET" && method != "HEAD" { lines += "Content-Length: \(count)\r\n" }
        var capacity = lines.utf8.count + 2 + count
        for field in fields {
            switch field.value {
            case .text(let text): capacity += field.name.utf8.count + text.utf8.count + 4
            case .secret(let prefix, let secret):
                capacity += field.name.utf8.count + prefix.utf8.count + secret.count + 4
            }
        }
        var buffer = ByteBufferAllocator().buffer(capacity: capacity)
        buffer.writeString(lines)
        for field in fields {
            buffer.writeString(field.name)
            buffer.writeStaticString(": ")
            switch field.value {
            case .text(let text): buffer.writeString(text)
            case .secret(let prefix, let secret):
                buffer.writeString(prefix)
                buffer.write(secret)
            }
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
        switch body {
        case .none: break
        case .bytes(let bytes): buffer.writeBytes(bytes)
        case .secret(let secret): buffer.write(secret)
        }
        return buffer
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ secret: Secret) {
        secret.withBytes { span in _ = unsafe span.withUnsafeBytes { unsafe writeBytes($0) } }
    }

    /// Overwrites the whole buffer.
    ///
    /// If another buffer shares the memory, that memory is not overwritten.
    mutating func wipe() {
        moveReaderIndex(to: 0)
        unsafe withUnsafeMutableReadableBytes { bytes in
            for index in bytes.indices { unsafe bytes[index] = 0 }
        }
        clear()
    }
}
