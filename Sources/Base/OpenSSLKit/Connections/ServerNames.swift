// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An additional identity of a server, presented to clients that request one of its host names (RFC 6066 3).
public struct TLSHost: Sendable {
    /// The host names; case and a dot at the end are ignored, and the `*` of a leading `*.` matches exactly one label.
    public let names: [String]
    /// The identity that is presented.
    public let identity: TLSIdentity

    /// Creates a host, whose names are checked when a ``TLSContext`` is made.
    public init(names: [String], identity: TLSIdentity) {
        self.names = names
        self.identity = identity
    }
}

/// A map of host names and wildcards to values.
struct ServerNames<Value> {
    private var exact: [String: Value] = [:]
    private var wildcards: [String: Value] = [:]

    mutating func add(_ name: String, value: Value) throws(OpenSSLError) {
        guard let known = Self.normalized(name), DNSName.isValid(known) else {
            throw OpenSSLError(.invalidName, context: "server name \"\(name)\"")
        }
        let old =
            known.hasPrefix("*.")
            ? wildcards.updateValue(value, forKey: String(known.dropFirst(2)))
            : exact.updateValue(value, forKey: known)
        if old != nil { throw OpenSSLError(.invalidName, context: "server name \"\(name)\", which occurs twice") }
    }

    /// The value of a name, an exact name before a wildcard; nil if no name matches.
    subscript(normalized name: String) -> Value? {
        if let value = exact[name] { return value }
        guard !wildcards.isEmpty, let dot = name.firstIndex(of: "."), dot != name.startIndex else { return nil }
        return wildcards[String(name[name.index(after: dot)...])]
    }

    /// Returns a name in lower case (RFC 4343) and without a dot at its end; nil if it is empty or not visible ASCII.
    static func normalized(_ name: some StringProtocol) -> String? {
        var bytes = name.utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Called by OpenSSL with a ClientHello: switches to the context of the requested name.
///
/// The context determines which sessions can be resumed, so it must be chosen before OpenSSL looks for a session.
/// OpenSSL's callback for server names is called too late.
func clientHelloCallback(
    ssl: OpaquePointer?,
    alert: UnsafeMutablePointer<Int32>?,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let callbacks = unsafe CallbackData.of(argument: data) else { return SSL_CLIENT_HELLO_ERROR }
    var start: UnsafePointer<UInt8>?
    var count = 0
    guard unsafe SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_server_name), &start, &count) == 1 else {
        return SSL_CLIENT_HELLO_SUCCESS
    }
    // OpenSSL rejects a malformed extension after this callback.
    let list = unsafe UnsafeBufferPointer(start: start, count: count)
    guard let name = unsafe serverName(in: list) else { return SSL_CLIENT_HELLO_SUCCESS }
    unsafe BIOState.of(SSL_get_rbio(ssl))?.pointee.serverName = name
    guard let host = callbacks.hosts[normalized: name] else { return SSL_CLIENT_HELLO_SUCCESS }
    guard unsafe SSL_set_SSL_CTX(ssl, host.pointer) != nil else {
        unsafe alert?.pointee = SSL_AD_INTERNAL_ERROR
        return SSL_CLIENT_HELLO_ERROR
    }
    return SSL_CLIENT_HELLO_SUCCESS
}

/// Returns the host name in a server_name extension (RFC 6066 3: length, type, length, name); nil if it is malformed.
func serverName(in list: UnsafeBufferPointer<UInt8>) -> String? {
    guard list.count > 5, unsafe Int(list[0]) << 8 | Int(list[1]) == list.count - 2, unsafe list[2] == 0 else {
        return nil
    }
    let length = unsafe Int(list[3]) << 8 | Int(list[4])
    guard length > 0, length <= 255, 5 + length == list.count else { return nil }
    return unsafe ServerNames<Int>.normalized(String(decoding: list[5...], as: UTF8.self))
}
