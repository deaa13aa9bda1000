// SPDX-License-Identifier: Apache-2.0

// The C library, whose module has another name on each system, and the functions of Linux that a Mac lacks.

#if canImport(Darwin)
@_exported public import Darwin

/// Sets bytes to zero, even if nothing reads them any more.
package func explicit_bzero(_ start: UnsafeMutableRawPointer, _ count: Int) { unsafe memset_s(start, count, 0, count) }

/// Waits until the bytes are on the disk: fsync(2) of a Mac leaves them in the drive, and some file systems have no more.
package func fdatasync(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor) }
#elseif canImport(Musl)
@_exported public import Musl
#else
@_exported public import Glibc
#endif
