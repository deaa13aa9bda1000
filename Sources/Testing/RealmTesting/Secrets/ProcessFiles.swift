// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The files of processes in `/proc`, as in proc(5).
enum ProcessFiles {
    /// The number of this process.
    static var own: Int { Int(getpid()) }

    /// Returns the numbers of all processes.
    static func numbers() -> [Int] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [Int] = []
        // The entry is valid until the next call of readdir, and its name ends with a zero byte.
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe Array(name.prefix { $0 != 0 })
            }
            if let number = Int(String(decoding: name, as: UTF8.self)) { numbers.append(number) }
        }
        return numbers
    }

    /// Returns the number of the parent of a process; nil if the process has ended.
    static func parent(of number: Int) -> Int? {
        // The name of the program is in parentheses and may contain any characters. The state and the parent follow.
        guard let bytes = bytes(of: number, file: "stat") else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 2 ? Int(fields[2]) : nil
    }

    /// Returns the first 256 KiB of a file of a process; nil if it cannot be opened.
    static func bytes(of number: Int, file: String) -> [UInt8]? {
        let descriptor = unsafe open("/proc/\(number)/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16384)
        while bytes.count < 262_144 {
            // The buffer is valid during the call and has this size.
            let count = unsafe part.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return bytes
    }
}
