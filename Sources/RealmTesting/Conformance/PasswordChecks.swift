// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// The comparison of the password checks that logins compute with a `PasswordService`.
///
/// A service adds a note to the report of a login. Checks of different costs take different times, so a client could
/// find out which users exist, or whose password is stored in which way.
enum PasswordChecks {
    /// Returns the costs of the checks of one login, in the order in which they were computed.
    static func costs(of report: LoginReport) -> [String] {
        report.notes.compactMap { PasswordService.costs(inNote: $0.text) }
    }

    /// Returns a sentence for each login whose checks differ from those of the first login.
    static func differences(_ logins: [(label: String, report: LoginReport)]) -> [String] {
        guard let first = logins.first else { return [] }
        let expected = costs(of: first.report)
        return logins.dropFirst().compactMap { label, report in
            let given = costs(of: report)
            guard given != expected else { return nil }
            return "the login \(label) checks \(text(given)), and the login \(first.label) checks "
                + "\(text(expected)): pass hashPerCost a hash of each cost in the realm"
        }
    }

    private static func text(_ costs: [String]) -> String {
        costs.isEmpty ? "no hash" : costs.joined(separator: ", ")
    }
}
