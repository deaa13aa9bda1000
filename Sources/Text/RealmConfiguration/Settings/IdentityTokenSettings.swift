// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The settings of identity tokens: the `identity-token` block of the `server` block.
///
/// An identity token is a signed statement for an application about the user of a request.
public struct IdentityTokenSettings: Sendable {
    /// The keys, at least one, each once.
    ///
    /// The first key signs. The other keys are published, so that applications accept tokens of an earlier key or know
    /// the next key.
    public let keys: [SigningKey]

    /// Creates the settings.
    ///
    /// - Parameter keys: The keys, at least one, each once.
    public init(keys: [SigningKey]) {
        self.keys = keys
    }
}
