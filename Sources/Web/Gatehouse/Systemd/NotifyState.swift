// SPDX-License-Identifier: Apache-2.0

internal import Glibc

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
