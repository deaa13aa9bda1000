// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// The processors this process may run on.
package enum Processors {
    /// Their number, as the kernel lists them in `/proc/self/status`; 1 if it does not.
    ///
    /// A container or `taskset` may allow fewer processors than the machine has, and more event loops than processors are
    /// slower.
    package static var count: Int { max(1, count(inStatus: status())) }

    /// Counts the bits of the line `Cpus_allowed:`, hexadecimal with commas.
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
