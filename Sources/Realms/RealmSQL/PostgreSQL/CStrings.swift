// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Glibc
internal import RealmKit

/// Texts as C strings; they are wiped at the end.
@safe
struct CStrings: ~Copyable {
    private let pointers: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    /// Copies texts without NUL, and optionally a secret after them.
    init(_ texts: [String], last secret: Secret? = nil) {
        let count = texts.count + (secret == nil ? 0 : 1)
        unsafe pointers = .allocate(capacity: count + 1)
        unsafe pointers.initialize(repeating: nil)
        for (place, text) in texts.enumerated() {
            unsafe pointers[place] = text.utf8Span.span.withUnsafeBufferPointer { unsafe Self.copy($0) }
        }
        if let secret {
            unsafe pointers[count - 1] = secret.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { unsafe Self.copy($0) }
            }
        }
    }

    deinit {
        for place in unsafe pointers.indices {
            guard let text = unsafe pointers[place] else { continue }
            let bytes = unsafe UnsafeMutablePointer(mutating: text)
            unsafe explicit_bzero(bytes, strlen(bytes))
            unsafe bytes.deallocate()
        }
        unsafe pointers.deallocate()
    }

    private static func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar> {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for place in bytes.indices { unsafe copy[place] = CChar(bitPattern: bytes[place]) }
        unsafe copy[bytes.count] = 0
        return unsafe UnsafePointer(copy)
    }

    /// Calls a function with the strings, with nil after the last one.
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        unsafe body(UnsafePointer(pointers.baseAddress))
    }
}
#endif
