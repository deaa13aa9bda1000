// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Glibc
internal import Synchronization

/// The metrics of the process, with the names that Prometheus recommends for all programs.
final class ProcessMetrics: Sendable {
    static let help = [
        "process_cpu_seconds_total": "Processor time of the process, in seconds.",
        "process_resident_memory_bytes": "Memory of the process that is in use.",
        "process_open_fds": "Open file descriptors.",
        "process_max_fds": "The limit for open file descriptors.",
        "process_start_time_seconds": "The start of the process, in Unix time.",
    ]

    private let processorTime: FloatingPointCounter
    private let countedProcessorTime = Mutex(0.0)
    private let memory: Gauge
    private let descriptors: Gauge
    private let maximumDescriptors: Gauge

    init(_ factory: any MetricsFactory) {
        func gauge(_ name: String) -> Gauge { Gauge(label: name, factory: factory) }
        processorTime = FloatingPointCounter(label: "process_cpu_seconds_total", factory: factory)
        memory = gauge("process_resident_memory_bytes")
        descriptors = gauge("process_open_fds")
        maximumDescriptors = gauge("process_max_fds")
        gauge("process_start_time_seconds").record(time(nil))
    }

    /// Reads the present values; a value that cannot be read stays as it is.
    func update() {
        var usage = rusage()
        if unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
            let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
            let time = Double(seconds) + Double(microseconds) / 1e6
            let difference = countedProcessorTime.withLock { counted in
                defer { counted = time }
                return time - counted
            }
            processorTime.increment(by: difference)
        }
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            maximumDescriptors.record(Double(limit.rlim_cur))
        }
        if let pages = Self.residentPages() { memory.record(pages * sysconf(Int32(_SC_PAGESIZE))) }
        if let count = Self.descriptorCount() { descriptors.record(count) }
    }

    /// The second number of /proc/self/statm (proc(5)).
    private static func residentPages() -> Int? {
        guard let file = unsafe fopen("/proc/self/statm", "re") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let words = text.split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }

    /// The number of entries of /proc/self/fd, without the descriptor that reads them.
    private static func descriptorCount() -> Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            if unsafe entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        return max(0, count - 1)
    }
}
