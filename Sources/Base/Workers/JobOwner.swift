// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// The client and the user of a job; the running jobs of each are limited.
package struct JobOwner: Sendable, Hashable {
    /// The source (client address) of the job.
    package let source: UTF8Text
    /// The user, in one spelling; nil if the job is not for one user.
    package let account: UTF8Text?

    /// - Parameters:
    ///   - source: The source of the job.
    ///   - account: The name of the user, in one spelling for all spellings that the realm accepts; nil if the job is not
    ///     for one user.
    package init(source: String, account: String?) {
        self.source = UTF8Text(source)
        self.account = account.map { UTF8Text($0) }
    }

    init(source: UTF8Text, account: UTF8Text) {
        self.source = source
        self.account = account
    }
}
