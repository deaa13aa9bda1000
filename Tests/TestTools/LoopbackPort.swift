// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Free TCP ports of the loopback interface, for servers that are started again on the same port.
///
/// A port is returned once for all test processes of this machine: the process keeps an abstract Unix socket with the
/// name of the port until it ends.
package enum LoopbackPort {
    /// The error if no free port or address was found.
    package struct NoneFree: Error {}

    // Below the ports that the kernel chooses, so a port stays free while its server is restarted.
    private static let range = 10_240..<32_000
    private static let attempts = 1_000
    private static let reservations = Mutex<[Int32]>([])

    /// Returns a port on which no program listens.
    ///
    /// - Throws: ``NoneFree``.
    package static func free() throws -> Int {
        for _ in 0..<attempts {
            let port = Int.random(in: range)
            if reserve("\(port)"), isFree(port) { return port }
        }
        throw NoneFree()
    }

    /// Returns an address of the loopback interface at which no program listens on certain ports.
    ///
    /// - Throws: ``NoneFree``.
    package static func freeAddress(with ports: [Int]) throws -> String {
        for _ in 0..<attempts {
            let numbers = [127, Int.random(in: 64...126), Int.random(in: 1...254), Int.random(in: 1...254)]
            let address = numbers.map { "\($0)" }.joined(separator: ".")
            if reserve(address), ports.allSatisfy({ isFree($0, at: address) }) { return address }
        }
        throw NoneFree()
    }

    /// Returns true if a program accepts connections at a port of an IPv4 address.
    package static func accepts(_ port: Int, at host: String = "127.0.0.1") -> Bool {
        unsafe withSocket(to: port, at: host) { descriptor, address, length in
            unsafe connect(descriptor, address, length) == 0
        }
    }

    private static func isFree(_ port: Int, at host: String = "127.0.0.1") -> Bool {
        unsafe withSocket(to: port, at: host) { descriptor, address, length in
            var yes: Int32 = 1
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            return unsafe bind(descriptor, address, length) == 0
        }
    }

    /// Returns false if a test process has reserved the same name.
    private static func reserve(_ name: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a zero byte.
        let path = [0] + Array("gatehouse-tests-\(name)".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return false
        }
        reservations.withLock { $0.append(descriptor) }
        return true
    }

    private static func withSocket(
        to port: Int,
        at host: String,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return false }
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body(descriptor, $0, length) }
        }
    }
}
