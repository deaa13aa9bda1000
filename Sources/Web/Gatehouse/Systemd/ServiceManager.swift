// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The program that has started this process as a service: systemd, or another that has its protocols.
///
/// The protocols are those of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3). Each part is optional: a
/// process that was started by hand has none of them.
public struct ServiceManager: Sendable {
    /// The listening sockets that were passed to this process.
    public let sockets: [InheritedSocket]
    /// The time within which the service manager expects ``NotifyState/watchdog``; nil if it expects none.
    public let watchdogTime: Duration?
    /// The variables that are not used as they are, for administrators.
    public let warnings: [String]
    /// Nil if the service manager does not want to be notified.
    let notifySocket: NotifySocket?

    /// A service manager that expects nothing and has passed nothing.
    public static let none = ServiceManager()

    private init() {
        sockets = []
        watchdogTime = nil
        warnings = []
        notifySocket = nil
    }

    /// Reads the environment of this process, and checks the passed sockets.
    ///
    /// The variables stay in the environment; programs that this process starts should get an environment of their own.
    /// Call it once: the sockets belong to the result.
    ///
    /// - Returns: The service manager.
    /// - Throws: ``ServiceManagerFault`` if a variable or a socket cannot be used.
    public static func ofThisProcess() throws(ServiceManagerFault) -> ServiceManager {
        try ServiceManager(process: getpid()) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// Reads an environment, and checks the passed sockets.
    init(process: Int32, environment: (String) -> String?) throws(ServiceManagerFault) {
        sockets = try InheritedSocket.all(environment, process: process)
        let time = try Self.watchdogTime(environment, process: process)
        // sd_watchdog_enabled(3) calls this an error. A service without a watchdog is better than none.
        watchdogTime = time == .zero ? nil : time
        warnings = time == .zero ? ["WATCHDOG_USEC is 0: the service manager is not told that the server is alive"] : []
        let address = environment("NOTIFY_SOCKET") ?? ""
        notifySocket = address.isEmpty ? nil : try NotifySocket(address: address)
    }

    private static func watchdogTime(
        _ environment: (String) -> String?,
        process: Int32
    ) throws(ServiceManagerFault) -> Duration? {
        guard let text = environment("WATCHDOG_USEC") else { return nil }
        if let owner = environment("WATCHDOG_PID") {
            guard let owner = Int32(owner), owner > 0 else {
                throw ServiceManagerFault("WATCHDOG_PID is not the identifier of a process: \(owner)")
            }
            guard owner == process else { return nil }
        }
        guard let microseconds = Int64(text), microseconds >= 0 else {
            throw ServiceManagerFault("WATCHDOG_USEC is not a number of microseconds: \(text)")
        }
        return .microseconds(microseconds)
    }

    /// Reports states in one message; it waits for at most two seconds if the service manager does not read.
    ///
    /// - Parameter states: The states.
    /// - Returns: The reason why the message was not sent; nil if it was, or if the service manager does not want to be
    ///   notified.
    @discardableResult
    public func notify(_ states: NotifyState...) -> ServiceManagerFault? {
        notifySocket?.send(states.map(\.line).joined(separator: "\n"))
    }
}

/// A state that a service reports to systemd: a line of sd_notify(3).
public struct NotifyState: Sendable, Hashable {
    /// The line, such as `READY=1`.
    public let line: String

    private init(_ line: String) { self.line = line }

    /// The service has started, or it has reloaded its configuration.
    public static let ready = NotifyState("READY=1")
    /// The service has begun to stop.
    public static let stopping = NotifyState("STOPPING=1")
    /// The service is alive.
    public static let watchdog = NotifyState("WATCHDOG=1")

    /// The service reloads its configuration.
    ///
    /// The line has the present time of CLOCK_MONOTONIC, as units of type `notify-reload` require.
    public static var reloading: NotifyState {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
        return NotifyState("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    /// A sentence for administrators, which `systemctl status` shows.
    ///
    /// - Parameter text: The sentence; its control characters are replaced by spaces, and it is cut off at 500 characters.
    /// - Returns: The state.
    public static func status(_ text: String) -> NotifyState {
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) }
        let scalars = text.unicodeScalars.prefix(500).map { isControl($0) ? " " : $0 }
        return NotifyState("STATUS=" + String(String.UnicodeScalarView(scalars)))
    }
}

/// The reason why the environment or a socket of the service manager cannot be used.
public struct ServiceManagerFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, for administrators.
    public let description: String

    init(_ description: String) { self.description = description }

    /// The text of `errno`.
    static var lastError: String { unsafe String(cString: strerror(errno)) }
}

/// The socket on which systemd receives the states of a service: `NOTIFY_SOCKET` of sd_notify(3).
final class NotifySocket: Sendable {
    private let descriptor: Int32
    /// The name of the socket as in `sockaddr_un`: a path, or a zero byte and an abstract name.
    private let name: [UInt8]
    /// The text of `NOTIFY_SOCKET`, for messages.
    private let address: String

    /// Creates the socket of an absolute path, or of `@` and an abstract name (unix(7)); no message is sent.
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

    /// Sends the lines of a message; returns the reason if it was not sent.
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
