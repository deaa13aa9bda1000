// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The user whom a certificate names.
struct CertificateUser: Sendable {
    let username: Username
    var groups: [String] = []
    var attributes: [UserAttribute] = []
}
