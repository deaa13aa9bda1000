// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The contents of an open file, which is read as a whole.
package enum FileBytes {
    /// The reason why a file could not be read.
    package enum Fault: Error {
        /// An error of the system, by its number.
        case system(Int32)
        /// The file does not have the expected size, because it is being written.
        case isBeingWritten
    }

    /// Reads a file from its present place to its end.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - count: The number of bytes that it has.
    /// - Returns: The bytes; as many as expected.
    /// - Throws: ``Fault`` if the file cannot be read, or has another size.
    package static func read(_ descriptor: Int32, count: Int) throws(Fault) -> [UInt8] {
        var number: Int32 = 0
        // Reading one byte more than the size shows whether the file has grown.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, filled in
            while filled < count + 1 {
                let room = count + 1 - filled
                let got = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, room)
                if got < 0, errno == EINTR { continue }
                if got < 0 { number = errno }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard number == 0 else { throw .system(number) }
        guard bytes.count == count else { throw .isBeingWritten }
        return bytes
    }
}
