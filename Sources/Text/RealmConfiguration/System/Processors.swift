// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The processors on which this process may run.
package enum Processors {
    /// The number of these processors, read from `/proc/self/status`; 1 if the file cannot be read.
    ///
    /// A container or `taskset` may allow only some processors of the machine. With more event loops than allowed
    /// processors, the server is slower.
    package static var count: Int { max(1, count(inStatus: status())) }

    /// Returns the number of set bits in the line `Cpus_allowed:`, a hexadecimal mask with commas.
    package static func count(inStatus status: String) -> Int {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return 0 }
        return line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    }

    private static func status() -> String {
        let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
