// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The processes and descriptors of this machine, read from /proc.
package enum RunningProcesses {
    /// The number of open descriptors of this process.
    package static var openDescriptors: Int { names(in: "/proc/self/fd").count - 1 }

    /// The number of children of this process that have ended and that nobody has waited for.
    package static var zombies: Int { states.count { $0 == "Z" } }

    /// The number of children of this process, also of those that have ended and that nobody has waited for.
    package static var children: Int { states.count }

    /// The states of the children of this process.
    private static var states: [String] {
        let own = getpid()
        return numbers.compactMap { number in
            let fields = text("/proc/\(number)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && Int32(fields[1]) == own ? String(fields[0]) : nil
        }
    }

    /// The processes whose command line contains a text.
    package static func mentioning(_ text: String) -> [Int32] {
        let own = getpid()
        return numbers.filter { $0 != own && self.text("/proc/\($0)/cmdline").contains(text) }
    }

    private static var numbers: [Int32] { names(in: "/proc").compactMap { Int32($0) } }

    private static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func text(_ path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
    }
}
