// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

/// Opens sockets; a wait ends at the deadline of the call, and when it is cancelled.
enum LDAPSocket {
    /// Opens a connection, and tries all addresses of the server in order; the caller closes the socket.
    static func open(_ url: LDAPServerURL, call: ServerCall, until time: UInt64) throws(ServerFault) -> Int32 {
        if url.scheme == .ldapi { return try connect(path: url.host, call: call, until: time) }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let isAddress = NetworkAddress(url.host[...]) != nil
        unsafe hints.ai_flags = AI_NUMERICSERV | (isAddress ? AI_NUMERICHOST : AI_ADDRCONFIG)
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
            // An address that does not answer leaves time for the others.
            let now = MonotonicTime.now
            let end = now &+ (time > now ? (time - now) / left : 0)
            do throws(ServerFault) {
                return try unsafe connect(
                    to: address.pointee.ai_addr,
                    length: address.pointee.ai_addrlen,
                    family: address.pointee.ai_family,
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
                try unsafe connect(to: pointer, length: length, family: AF_UNIX, call: call, until: time)
            }
        }
    }

    private static func connect(
        to address: UnsafePointer<sockaddr>?,
        length: socklen_t,
        family: Int32,
        call: ServerCall,
        until time: UInt64
    ) throws(ServerFault) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw fault(errno) }
        do throws(ServerFault) {
            if unsafe Glibc.connect(descriptor, address, length) != 0 {
                // EAGAIN is no connection in progress: the backlog of a local socket is full, or the ports are used up.
                guard errno == EINPROGRESS else { throw fault(errno) }
                try Result { () throws(ServerFault) in
                    try call.wait(for: descriptor, events: Int32(POLLOUT), until: time)
                }.mapError { $0.code == .timedOut ? ServerFault(.timedOut, "no connection in time") : $0 }.get()
                var number: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else {
                    throw fault(errno)
                }
                guard number == 0 else { throw fault(number) }
            }
        } catch {
            close(descriptor)
            throw error
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, size)
        return descriptor
    }

    private static func fault(_ number: Int32) -> ServerFault {
        let isLoad = [EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number)
        return ServerFault(isLoad ? .full : .unreachable, "no connection: \(unsafe String(cString: strerror(number)))")
    }
}
#endif
