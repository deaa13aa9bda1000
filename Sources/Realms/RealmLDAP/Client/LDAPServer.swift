// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The URL of a directory server: `ldap`, `ldaps` or `ldapi`, without the parts of a search (RFC 4516).
struct LDAPServerURL: Sendable, Hashable {
    enum Scheme: String, Sendable, Hashable { case ldap, ldaps, ldapi }

    let scheme: Scheme
    /// The host name or the address, without brackets; the path of the socket for `ldapi`.
    let host: String
    let port: Int

    /// The URL for libldap and for messages.
    var text: String {
        switch scheme {
        case .ldap, .ldaps: "\(scheme.rawValue)://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
        case .ldapi: "ldapi://\(host)"
        }
    }

    /// True if the connection does not leave this machine.
    var isLocal: Bool {
        if scheme == .ldapi || ["localhost", "ip6-localhost"].contains(host.lowercased()) { return true }
        return NetworkAddress(host[...])?.isLoopback == true
    }

    /// Reads a URL without a user name, a path and a query; the port is 389 for `ldap` and 636 for `ldaps` by default.
    init(_ text: String) throws(BadValue) {
        // The text before an at sign may be a password.
        let found = text.utf8.contains(UInt8(ascii: "@")) ? "a URL with a user name or a password" : text
        let expected = BadValue("takes URLs such as ldaps://ldap.example.org:636, not \(found)")
        guard let colon = text.utf8.firstRange(of: "://".utf8),
            let scheme = Scheme(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw expected }
        var rest = text[colon.upperBound...]
        if rest.utf8.last == UInt8(ascii: "/"), scheme != .ldapi { rest = rest.dropLast() }
        self.scheme = scheme
        if scheme == .ldapi {
            guard rest.utf8.first == UInt8(ascii: "/"), rest.utf8.count < 108, Self.isPlain(rest, allowing: "/") else {
                throw BadValue("takes the path of a socket, such as ldapi:///run/slapd/ldapi, not \(found)")
            }
            (host, port) = (String(rest), 0)
            return
        }
        var portText: Substring?
        if rest.utf8.first == UInt8(ascii: "[") {
            guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw expected }
            host = String(rest[rest.utf8.index(after: rest.startIndex)..<end])
            guard NetworkAddress(host[...]) != nil else { throw expected }
            rest = rest[rest.utf8.index(after: end)...]
            if rest.utf8.first == UInt8(ascii: ":") {
                portText = rest.dropFirst()
            } else if !rest.isEmpty {
                throw expected
            }
        } else {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty, Self.isPlain(name, allowing: "") else { throw expected }
            host = String(name)
            portText = parts.count > 1 ? parts[1] : nil
        }
        guard let portText else {
            port = scheme == .ldaps ? 636 : 389
            return
        }
        guard portText.utf8.allSatisfy(ASCII.isDigit), let number = Int(portText), (1...65535).contains(number) else {
            throw expected
        }
        port = number
    }

    private static func isPlain(_ text: Substring, allowing others: String) -> Bool {
        text.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) || others.utf8.contains($0) }
    }
}

enum LDAPSocket {
    /// Opens a connection, and tries all addresses of the server in order; the caller closes the socket.
    static func open(_ url: LDAPServerURL, call: ServerCall, until time: UInt64) throws(ServerFault) -> Int32 {
        if url.scheme == .ldapi { return try connect(path: url.host, call: call, until: time) }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
        if NetworkAddress(url.host[...]) != nil { unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(url.host, "\(url.port)", &hints, &list)
        guard status == 0 else {
            let cause = unsafe String(cString: gai_strerror(status))
            throw ServerFault(.unreachable, "the host name cannot be resolved: \(cause)")
        }
        defer { unsafe freeaddrinfo(list) }
        var last = ServerFault(.unreachable, "the host name has no address")
        var left: UInt64 = 0
        var next = unsafe list
        while let address = unsafe next {
            left += 1
            unsafe next = address.pointee.ai_next
        }
        unsafe next = list
        while let address = unsafe next {
            do throws(ServerFault) {
                // An address that does not answer leaves time for the others.
                let now = MonotonicTime.now
                let end = now &+ (time > now ? (time - now) / left : 0)
                return try unsafe connect(
                    family: address.pointee.ai_family,
                    address: address.pointee.ai_addr,
                    length: address.pointee.ai_addrlen,
                    call: call,
                    until: end
                )
            } catch {
                guard error.code == .unreachable || error.code == .timedOut else { throw error }
                last = error
            }
            left -= 1
            unsafe next = address.pointee.ai_next
        }
        throw last
    }

    private static func connect(path: String, call: ServerCall, until time: UInt64) throws(ServerFault) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else { throw ServerFault(.unreachable, "the path of the socket is too long") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return try unsafe withUnsafePointer(to: &address) { pointer throws(ServerFault) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(ServerFault) in
                try unsafe connect(family: AF_UNIX, address: pointer, length: length, call: call, until: time)
            }
        }
    }

    private static func connect(
        family: Int32,
        address: UnsafePointer<sockaddr>?,
        length: socklen_t,
        call: ServerCall,
        until time: UInt64
    ) throws(ServerFault) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw fault(errno) }
        do throws(ServerFault) {
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            if unsafe Glibc.connect(descriptor, address, length) != 0 {
                guard errno == EINPROGRESS || errno == EAGAIN else { throw fault(errno) }
                try Result { () throws(ServerFault) in
                    try call.wait(for: descriptor, events: Int32(POLLOUT), until: time)
                }.mapError { $0.code == .timedOut ? ServerFault(.timedOut, "no connection in time") : $0 }.get()
                var number: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0, number == 0 else {
                    throw fault(number)
                }
            }
            _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
            setOptions(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func setOptions(_ descriptor: Int32) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, size)
    }

    private static func fault(_ number: Int32) -> ServerFault {
        let isLoad = [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        return ServerFault(isLoad ? .full : .unreachable, "no connection: \(unsafe String(cString: strerror(number)))")
    }
}
#endif
