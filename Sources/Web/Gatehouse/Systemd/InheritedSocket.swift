// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A listening TCP socket that the service manager has passed to this process: sd_listen_fds(3).
public struct InheritedSocket: Sendable, Hashable {
    /// The first descriptor that a service manager passes.
    static let firstDescriptor: Int32 = 3
    /// The largest number of sockets that is accepted.
    static let maximumCount: Int32 = 256

    /// The descriptor of the socket; it is closed in programs that this process starts.
    public let descriptor: Int32
    /// The name of `FileDescriptorName=`, which is by default that of the socket unit; nil if there are no names.
    public let name: String?

    /// Finds the sockets, sets close-on-exec, and checks that each is a listening TCP socket.
    ///
    /// There are none if the variables are for another process.
    static func all(
        _ environment: (String) -> String?,
        process: Int32
    ) throws(ServiceManagerFault) -> [InheritedSocket] {
        guard let count = environment("LISTEN_FDS"), let owner = environment("LISTEN_PID") else { return [] }
        guard let owner = Int32(owner), owner > 0 else {
            throw ServiceManagerFault("LISTEN_PID is not the identifier of a process: \(owner)")
        }
        // A program that was started by the owner has the variables too, but not the sockets.
        guard owner == process else { return [] }
        guard let count = Int32(count), (0...maximumCount).contains(count) else {
            throw ServiceManagerFault("LISTEN_FDS is not a number from 0 to \(maximumCount): \(count)")
        }
        let names = environment("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false)
        if let names, count > 0, names.count != Int(count) {
            throw ServiceManagerFault("LISTEN_FDNAMES has \(names.count) names, but LISTEN_FDS is \(count)")
        }
        var sockets: [InheritedSocket] = []
        for index in 0..<count {
            let socket = InheritedSocket(
                descriptor: firstDescriptor + index,
                name: names.map { String($0[Int(index)]) }
            )
            try socket.check()
            sockets.append(socket)
        }
        return sockets
    }

    private var label: String { name.map { "descriptor \(descriptor) (\($0))" } ?? "descriptor \(descriptor)" }

    private func check() throws(ServiceManagerFault) {
        let flags = fcntl(descriptor, F_GETFD)
        guard flags >= 0, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0 else {
            throw fault("cannot be used: \(ServiceManagerFault.lastError)")
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            throw fault("is not a socket")
        }
        guard let family = option(SO_DOMAIN), let type = option(SO_TYPE), let listens = option(SO_ACCEPTCONN) else {
            throw fault("cannot be used: \(ServiceManagerFault.lastError)")
        }
        guard family == AF_INET || family == AF_INET6 else {
            throw fault("is not a TCP socket; write ListenStream=PORT or ListenStream=ADDRESS:PORT in the socket unit")
        }
        guard type == Int32(SOCK_STREAM.rawValue) else {
            throw fault("is a datagram socket; write ListenStream= instead of ListenDatagram= in the socket unit")
        }
        guard listens != 0 else {
            throw fault("is a socket that does not listen; write Accept=no in the socket unit")
        }
    }

    private func fault(_ text: String) -> ServiceManagerFault {
        ServiceManagerFault("\(label), which the service manager has passed, \(text)")
    }

    /// Returns an option of the socket; nil if the system does not know it.
    private func option(_ name: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 else { return nil }
        return value
    }
}
