// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
public import RealmKit

/// The monotonic clock of the system.
public struct SystemClock: LoginClock {
    /// Creates a clock; all instances return the same time.
    public init() {}

    /// The time in nanoseconds.
    public var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Waits until ``now`` has reached a time.
    public func sleep(until deadline: UInt64) async throws(CancellationError) {
        let begin = now
        guard deadline > begin else { return }
        do {
            try await Task.sleep(nanoseconds: deadline - begin)
        } catch {
            throw CancellationError()
        }
    }
}

extension WallClock {
    /// The wall clock of the system, in seconds since 1970; the administrator may set it.
    public static let system = WallClock { Int(time(nil)) }
}

/// The predefined properties for `${name}`, with the names of Java's system properties.
public enum SystemProperties {
    /// `user.name`, `user.home` and `user.dir`; a property that the system does not know is missing.
    public static var all: [String: String] {
        var properties: [String: String] = [:]
        if let entry = unsafe getpwuid(geteuid()) {
            properties["user.name"] = unsafe String(cString: entry.pointee.pw_name)
            properties["user.home"] = unsafe String(cString: entry.pointee.pw_dir)
        }
        properties["user.dir"] = FilePath.current
        return properties
    }
}

/// The processors on which this process may run.
package enum Processors {
    /// The number of these processors, read from `/proc/self/status`; 1 if the file cannot be read.
    ///
    /// A container or `taskset` may allow only some of the machine. With more event loops, the server is slower.
    package static var count: Int {
        guard case .success(let status) = ConfigurationFiles.system.read("/proc/self/status") else { return 1 }
        return max(1, count(inStatus: String(decoding: status, as: UTF8.self)))
    }

    /// Returns the number of set bits in the line `Cpus_allowed:`, a hexadecimal mask with commas.
    package static func count(inStatus status: String) -> Int {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return 0 }
        return line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    }
}
