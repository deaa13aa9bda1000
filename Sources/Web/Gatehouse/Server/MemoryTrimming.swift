// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Returns freed memory to the system after a peak of connections and requests.
///
/// The allocator of glibc keeps freed memory for later allocations, so a server would keep the size of its largest peak.
enum MemoryTrimming {
    /// The smallest peak after which memory is returned: some megabytes.
    private static let smallestPeak = 200
    /// Checks the load every second until the task is cancelled.
    ///
    /// - Parameter load: Returns the largest number of connections and requests since the last call.
    static func run(load: @Sendable () -> Int) async {
        var peak = 0
        repeat {
            let count = load()
            peak = max(peak, count)
            if peak >= smallestPeak, count < peak / 2 {
                trim()
                peak = count
            }
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        } while true
    }

    /// Calls `malloc_trim` of glibc; other C libraries have none.
    private static func trim() {
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        typealias Function = @convention(c) (Int) -> CInt
        _ = unsafe unsafeBitCast(symbol, to: Function.self)(0)
    }
}
