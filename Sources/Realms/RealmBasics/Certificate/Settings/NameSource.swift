// SPDX-License-Identifier: Apache-2.0

/// The part of a certificate that contains the user name: the property `name-from`.
enum NameSource: String, Sendable, Hashable, CaseIterable {
    /// The whole subject in the form of RFC 2253.
    case subject
    /// The common name (CN) of the subject.
    case commonName = "common-name"
    /// The mail address of subjectAltName.
    case email
    /// The user principal name of subjectAltName.
    case upn
    /// The URI of subjectAltName.
    case uri
    /// The DNS name of subjectAltName.
    case dns
    /// The entry of the certificate in the mapping file.
    case mapping
}
