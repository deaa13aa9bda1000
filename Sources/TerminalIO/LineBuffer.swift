// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmKit

/// Bytes of a line on their way into a ``Secret``; never grown, wiped at the end.
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

    /// Adds a byte; false if there is no room.
    mutating func append(_ byte: UInt8) -> Bool {
        guard unsafe count < storage.count else { return false }
        unsafe storage[count] = byte
        count += 1
        return true
    }

    /// Takes back the last character, all its bytes.
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
    /// A line that was ended as on Windows.
    mutating func removeCarriageReturn() {
        if endsWithCarriageReturn { removeLastCharacter() }
    }
}
