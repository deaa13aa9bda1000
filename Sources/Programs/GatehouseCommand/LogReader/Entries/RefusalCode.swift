// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The codes with which the log gives the reason of a refused login.
enum RefusalCode {
    /// The codes, and their explanations for an administrator.
    static let explanations: [UTF8Text: String] = [
        "wrong-credentials": "the password, code or certificate is wrong",
        "unknown-user": "there is no such user",
        "missing-credential": "a password, code or certificate is missing",
        "unusable-credential": "the password cannot be checked",
        "locked": "too many failed logins",
        "disabled": "the account is disabled",
        "account-expired": "the account has expired",
        "credential-expired": "the password has expired or must be changed",
        "permission-denied": "the realm does not allow the user to sign in",
        "unavailable": "the realm could not be reached",
        "overloaded": "too many logins were waiting",
        "internal-error": "a login module has failed",
        "all-ignored": "no login module has decided",
        "empty-stack": "the login entry has no modules",
        "no-user-established": "no login module has named a user",
    ]
}
