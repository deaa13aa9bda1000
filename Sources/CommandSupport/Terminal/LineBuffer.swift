// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmKit

/// The bytes of a line that becomes a ``Secret``: a buffer that never grows and is wiped at its end.
@safe struct LineBuffer: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(capacity: Int) {
        unsafe storage = .allocate(capacity: capacity)
        unsafe storage.initialize(repeating: 0)
    }

    deinit {
        if let base = unsafe storage.baseAddress { unsafe explicit_bzero(base, storage.count) }
        unsafe storage.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a byte.
    ///
    /// - Returns: True if there was room for it.
    mutating func append(_ byte: UInt8) -> Bool {
        guard unsafe count < storage.count else { return false }
        unsafe storage[count] = byte
        count += 1
        return true
    }

    /// Removes the last character: all bytes of its UTF-8.
    mutating func removeLastCharacter() {
        while count > 0 {
            count -= 1
            if unsafe storage[count] & 0xC0 != 0x80 { return }
        }
    }

    mutating func clear() { count = 0 }

    var endsWithCarriageReturn: Bool { unsafe count > 0 && storage[count - 1] == 0x0D }

    func secret() -> Secret {
        unsafe Secret(UnsafeMutableBufferPointer(rebasing: storage[..<count]))
    }
}

extension LineBuffer {
    /// Removes the CR of a line that ends in CR LF.
    mutating func removeCarriageReturn() {
        if endsWithCarriageReturn { removeLastCharacter() }
    }
}
