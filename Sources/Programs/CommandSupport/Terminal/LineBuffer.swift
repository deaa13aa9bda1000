// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmKit

/// A buffer for a line that is a secret.
///
/// The capacity is fixed, so the bytes are never copied to other memory. `deinit` wipes them.
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
    /// - Returns: False if the buffer is full.
    mutating func append(_ byte: UInt8) -> Bool {
        guard unsafe count < storage.count else { return false }
        unsafe storage[count] = byte
        count += 1
        return true
    }

    /// Removes all bytes of the last UTF-8 character.
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
    /// Removes the CR of a line that ended with CR LF.
    mutating func removeCarriageReturn() {
        if endsWithCarriageReturn { removeLastCharacter() }
    }
}
