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
            note("\(server): \(LDAPText.printable(request())): \(result), \(Self.time(since: start))")
        } catch {
            guard error.code != .failed else { throw error }
            throw ServerFault(error.code, "\(LDAPText.printable(request())): \(error.log)")
        }
    }

    private static func time(since start: UInt64) -> String {
        let tenths = (MonotonicTime.now - start) / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
#endif
