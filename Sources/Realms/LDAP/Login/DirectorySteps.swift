// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import RealmKit
internal import ServerConnections
internal import WorkerThreads

/// The steps of one login for the administrator: the server, the request, the result and the time of each.
struct DirectorySteps: Sendable {
    let server: String
    let note: @Sendable (String) -> Void

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - request: The request, without secrets.
    ///   - body: Makes the step, and returns its result.
    /// - Throws: The fault of `body`, with the request in its text.
    func measure(
        _ request: @autoclosure () -> String,
        _ body: () throws(ServerFault) -> String
    ) throws(ServerFault) {
        let start = MonotonicTime.now
        do throws(ServerFault) {
            let result = try body()
            note(line(LDAPText.printable(request()), result: result, start: start))
        } catch {
            guard error.code != .failed else { throw error }
            throw ServerFault(error.code, "\(LDAPText.printable(request())): \(error.log)")
        }
    }

    /// Returns the text of a note, in one allocation.
    private func line(_ request: String, result: String, start: UInt64) -> String {
        let tenths = (MonotonicTime.now - start) / 100_000
        var line = server
        line.reserveCapacity(server.utf8.count + request.utf8.count + result.utf8.count + 24)
        line += ": "
        line += request
        line += ": "
        line += result
        line += ", "
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        line += " ms"
        return line
    }
}
#endif
