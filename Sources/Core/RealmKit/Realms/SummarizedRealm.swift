// SPDX-License-Identifier: Apache-2.0

/// A realm with facts about its users that `gatehouse check` shows in its summary.
///
/// They are no mistakes, so they are neither warnings nor in the log.
package protocol SummarizedRealm: Realm {
    /// The facts, one line each.
    var summary: [String] { get }
}
