// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The program that has started this process as a service: systemd, or another that has its protocols.
///
/// The protocols are those of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3). Each part is optional: a process
/// that was started by hand has none of them.
public struct ServiceManager: Sendable {
    /// The listening sockets that were passed to this process.
    public let sockets: [InheritedSocket]
    /// The time within which the service manager expects ``NotifyState/watchdog``; nil if it expects none.
    public let watchdogTime: Duration?
    /// The variables that are not used as they are, for administrators.
    public let warnings: [String]
    private let notifySocket: NotifySocket?

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
    ///
    /// - Parameters:
    ///   - process: The identifier of this process.
    ///   - environment: Returns the value of a variable of the environment.
    /// - Throws: ``ServiceManagerFault`` if a variable or a socket cannot be used.
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

    /// True if the service manager wants to be notified.
    public var isNotified: Bool { notifySocket != nil }

    /// Reports states in one message.
    ///
    /// It waits for at most two seconds if the service manager does not read.
    ///
    /// - Parameter states: The states.
    /// - Returns: True if the message was sent, or if the service manager does not want to be notified.
    @discardableResult
    public func notify(_ states: NotifyState...) -> Bool {
        fault(sending: states) == nil
    }

    /// Reports states as ``notify(_:)`` does.
    ///
    /// - Parameter states: The states.
    /// - Returns: The reason why the message was not sent; nil if it was, or if the service manager does not want to be
    ///   notified.
    public func report(_ states: NotifyState...) -> ServiceManagerFault? { fault(sending: states) }

    private func fault(sending states: [NotifyState]) -> ServiceManagerFault? {
        notifySocket?.send(states.map(\.line).joined(separator: "\n"))
    }
}
