// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmKit

/// Reads the files that the properties name.
enum SettingsFile {
    /// The maximum length of a file, in bytes.
    static let maximumBytes = 1 << 20

    /// Returns the bytes of a file; they are wiped with the secret.
    static func read(_ path: String, setting: String) throws(BadRealm) -> Secret {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault(path, setting: setting) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw fault(path, setting: setting) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumBytes else {
            throw BadRealm("\(path) is not a file of at most \(maximumBytes) bytes", setting: setting)
        }
        return try Secret(capacity: Int(status.st_size)) { output throws(BadRealm) in
            try unsafe output.withUnsafeMutableBufferPointer { buffer, count throws(BadRealm) in
                while count < buffer.count {
                    let free = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]
                    )
                    let taken = unsafe Glibc.read(descriptor, free.baseAddress, free.count)
                    guard taken >= 0 else { throw fault(path, setting: setting) }
                    if taken == 0 { return }
                    count += taken
                }
            }
        }
    }

    private static func fault(_ path: String, setting: String) -> BadRealm {
        BadRealm("\(path) cannot be read: \(unsafe String(cString: strerror(errno)))", setting: setting)
    }
}
