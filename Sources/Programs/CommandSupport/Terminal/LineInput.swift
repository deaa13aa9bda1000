// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
package import RealmKit

/// Reading lines of a stream as secrets.
package enum LineInput {
    /// Reads a line; nil at the end of the file, after an interrupt, or if it is longer than ``Terminal/maximumLine``.
    package static func readSecret(_ input: Int32, until interrupt: InputInterrupt? = nil) -> Secret? {
        var line = LineBuffer(capacity: Terminal.maximumLine)
        while let byte = nextByte(of: input, until: interrupt) {
            if byte == 0x0A {
                line.removeCarriageReturn()
                return line.secret()
            }
            guard line.append(byte) else { return nil }
        }
        return line.isEmpty || interrupt?.isInterrupted == true ? nil : line.secret()
    }

    /// Reads a byte; nil at the end of the file, after an error or after an interrupt.
    static func nextByte(of input: Int32, until interrupt: InputInterrupt?) -> UInt8? {
        var byte: UInt8 = 0
        while interrupt?.waits(for: input) ?? true {
            let count = unsafe Glibc.read(input, &byte, 1)
            if count == 1 { return byte }
            guard count < 0, errno == EINTR else { return nil }
        }
        return nil
    }
}

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

    /// Adds a byte; false if the buffer is full.
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

    /// Removes the CR of a line that ended with CR LF.
    mutating func removeCarriageReturn() {
        if unsafe count > 0 && storage[count - 1] == 0x0D { count -= 1 }
    }

    func secret() -> Secret { unsafe Secret(UnsafeMutableBufferPointer(rebasing: storage[..<count])) }
}

/// A call that blocks its thread: on a thread of the Swift tasks it would hold up other tasks.
package enum BlockingCall {
    package static func run<Value: Sendable, Failure: Error>(
        _ call: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result(catching: call)) }
        }
        return try result.get()
    }
}
