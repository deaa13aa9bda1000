// SPDX-License-Identifier: Apache-2.0

package import HummingbirdCore
package import RealmKit

/// A response and the data for the log line of its request.
package struct LoggedResponse: Sendable {
    /// The response.
    package var response: Response
    /// The report of the login, if there was one.
    package var report: LoginReport?
    /// The user of the session, if there is one.
    package var user: SignedInUser?
    /// A remark for the log line, such as the name of the program that used the realm API.
    package var remark = ""
    /// The rule of the page that a refused sign-in was for, for the log line; empty if there is none.
    package var rule = ""

    init(_ response: Response, report: LoginReport? = nil, user: SignedInUser? = nil) {
        self.response = response
        self.report = report
        self.user = user
    }
}
