// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// OpenSSL's error queue of the current thread.
///
/// OpenSSL writes the details of an error into the queue. The queue is cleared before a call, because SSL_get_error(3)
/// also reads it. It is drained after a call that has failed.
enum ErrorQueue {
    struct Entry {
        let library: Int32
        let reason: Int32
        let text: String
    }

    static func clear() {
        ERR_clear_error()
    }

    /// Clears the queue if it is not empty.
    ///
    /// Checking takes less time than clearing.
    @inline(__always)
    static func clearIfNeeded() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Adds an entry of a callback, so that the error of the connection has its reason.
    ///
    /// - Parameter text: The reason, in ASCII.
    static func add(_ text: String) {
        unsafe text.withCString { unsafe gatehouse_ERR_raise($0) }
    }

    /// Removes and returns all entries, the oldest first.
    static func drain() -> [Entry] {
        var entries: [Entry] = []
        while true {
            var data: UnsafePointer<CChar>?
            var flags: Int32 = 0
            let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard code != 0 else { return entries }
            var text = "error \(code)"
            if let reason = unsafe ERR_reason_error_string(code) { text = unsafe String(cString: reason) }
            let library = gatehouse_ERR_GET_LIB(code)
            if flags & ERR_TXT_STRING != 0, let data = unsafe data {
                let detail = unsafe String(cString: data)
                if library == ERR_LIB_USER { text = detail } else if !detail.isEmpty { text += ": \(detail)" }
            }
            entries.append(Entry(library: library, reason: gatehouse_ERR_GET_REASON(code), text: text))
        }
    }
}
