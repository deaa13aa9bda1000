// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The socket on which systemd receives the states of a service: `NOTIFY_SOCKET` of sd_notify(3).
final class NotifySocket: Sendable {
    private let descriptor: Int32
    /// The name of the socket as in `sockaddr_un`: a path, or a zero byte and an abstract name.
    private let name: [UInt8]
    /// The text of `NOTIFY_SOCKET`, for messages.
    private let address: String

    /// Creates the socket; no message is sent.
    ///
    /// - Parameter address: An absolute path, or `@` and an abstract name (unix(7)).
    /// - Throws: ``ServiceManagerFault`` if the address has another form, or the system has no more descriptors.
    init(address: String) throws(ServiceManagerFault) {
        var name = Array(address.utf8)
        guard name.count > 1, name[0] == UInt8(ascii: "/") || name[0] == UInt8(ascii: "@"), !name.contains(0) else {
            throw ServiceManagerFault("NOTIFY_SOCKET is neither an absolute path nor an abstract socket: \(address)")
        }
        // A path ends with a zero byte; an abstract name begins with one.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        guard name.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw ServiceManagerFault("NOTIFY_SOCKET is too long: \(address)")
        }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else {
            throw ServiceManagerFault("a socket for NOTIFY_SOCKET cannot be made: \(ServiceManagerFault.lastError)")
        }
        self.descriptor = descriptor
        self.name = name
        self.address = address
        // A service manager that does not read must not stop the service.
        var timeout = timeval(tv_sec: 2, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends a message.
    ///
    /// - Parameter message: The lines.
    /// - Returns: The reason why the message was not sent; nil if it was.
    func send(_ message: String) -> ServiceManagerFault? {
        var socketName = sockaddr_un()
        socketName.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &socketName.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(message.utf8)
        var sent: Int
        repeat {
            sent = unsafe withUnsafePointer(to: &socketName) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    unsafe bytes.withUnsafeBytes { bytes in
                        unsafe sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), name, length)
                    }
                }
            }
        } while sent < 0 && errno == EINTR
        guard sent < 0 else { return nil }
        return ServiceManagerFault("NOTIFY_SOCKET \(address) cannot be reached: \(ServiceManagerFault.lastError)")
    }
}
