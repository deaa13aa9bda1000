// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import RealmKit
internal import ServerConnections
internal import Workers

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
            note(request(), result: result, since: start)
        } catch {
            guard error.code != .failed else { throw error }
            throw ServerFault(error.code, "\(LDAPText.printable(request())): \(error.log)")
        }
    }

    /// Notes a step that has been made.
    ///
    /// - Parameters:
    ///   - request: The request, without secrets.
    ///   - result: The result.
    ///   - start: The time at which the request was sent, of `MonotonicTime`.
    func note(_ request: String, result: String, since start: UInt64) {
        note(line(LDAPText.printable(request), result: result, start: start))
    }

    /// Returns the text of a note, in one allocation of its length.
    private func line(_ request: String, result: String, start: UInt64) -> String {
        let time = MonotonicTime.text(since: start)
        var line = server
        line.reserveCapacity(server.utf8.count + request.utf8.count + result.utf8.count + time.utf8.count + 6)
        line += ": "
        line += request
        line += ": "
        line += result
        line += ", "
        line += time
        return line
    }
}
#endif
