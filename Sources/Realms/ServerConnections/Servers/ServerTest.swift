// SPDX-License-Identifier: Apache-2.0

package import RealmKit
internal import Workers

/// Tests of servers for `TestableRealm`, on threads that may block.
package enum ServerTest {
    /// Tests servers one after the other.
    ///
    /// - Parameters:
    ///   - servers: The servers.
    ///   - report: Receives the steps.
    ///   - test: Tests a server; it must end within the time limits of the realm.
    package static func run<Server: Sendable>(
        _ servers: [Server],
        report: @escaping @Sendable (BackEndStep) -> Void,
        _ test: @escaping @Sendable (Server) -> Void
    ) async {
        for server in servers {
            let end = FirstValue<Void>()
            let hasStarted = WorkerThread.start(niceness: 0) {
                test(server)
                end.set(())
            }
            guard hasStarted else {
                report(BackEndStep("the system has no more threads", isFailure: true))
                return
            }
            await end.value()
        }
    }
}
