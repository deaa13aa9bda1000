// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The place of one helper process, on a thread of its own.
package final class HelperSlot {
    /// The running helper; nil if there is none.
    package private(set) var process: HelperProcess?
    /// The number of requests that the running helper has answered.
    private(set) var answered = 0
    /// The number of faults since the last answer.
    private(set) var faults = 0
    private let log: RealmLog?

    init(log: RealmLog?) {
        self.log = log
    }

    /// Returns the running helper, or starts one.
    ///
    /// A helper that has sent something without a request is replaced: it could be taken for an answer.
    ///
    /// - Parameters:
    ///   - program: The program to start.
    ///   - secret: The secret of the request; lines of output that contain it are not logged.
    /// - Returns: The helper.
    /// - Throws: ``HelperFault`` with code `cannotStart`.
    package func process(_ program: HelperProgram, secret: Secret?) throws(HelperFault) -> HelperProcess {
        if let process, process.begin(secret: secret) { return process }
        end()
        let process = try HelperProcess(program, log: log, secret: secret)
        self.process = process
        return process
    }

    /// Kills the running helper with its group, and waits for its end.
    package func end() {
        process?.end()
        process = nil
        answered = 0
    }

    /// Counts an answer; the helper ends after its last one.
    func countAnswer(limit: Int, wake: WakeUp) {
        answered += 1
        faults = 0
        process?.finish()
        guard answered >= limit else { return }
        process?.endGracefully(wake: wake)
        end()
    }

    func countFault() { faults += 1 }
}
