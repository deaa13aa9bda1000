// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import OpenSSLKit
package import RealmConfiguration
internal import Synchronization

/// The paths and header fields that are the same for all pages of a configuration.
package struct PageContext: Sendable {
    private static let lastGeneration = Atomic(0)

    /// The header fields that restrict what a browser allows a page to do.
    package let security: SecurityHeaders
    /// The links to the sign-in page.
    package let links: SignInLinks
    /// The organization that the pages show.
    package let brand: SignInBrand
    /// The translations of the pages.
    package let translations: Translations
    /// The public keys of identity tokens; nil if applications get no tokens.
    package let identityKeys: IdentityKeySet?
    /// The script of the sign-in form in the language of each translation.
    let formScripts: [InlineScript]
    /// The paths of the pages.
    package var routes: Routes { links.routes }
    // Each configuration has its own number, because a reload may change the pages.
    private let generation: Int

    /// The context of a configuration.
    ///
    /// - Parameters:
    ///   - security: The header fields that restrict what a browser allows a page to do.
    ///   - links: The links to the sign-in page.
    ///   - brand: The organization that the pages show.
    ///   - translations: The translations of the pages.
    ///   - identityKeys: The public keys of identity tokens; nil if applications get no tokens.
    /// - Throws: ``OpenSSLError`` when the digest of a script cannot be computed.
    package init(
        security: SecurityHeaders,
        links: SignInLinks,
        brand: SignInBrand,
        translations: Translations = Translations(),
        identityKeys: IdentityKeySet? = nil
    ) throws(OpenSSLError) {
        self.security = security
        self.links = links
        self.brand = brand
        self.translations = translations
        self.identityKeys = identityKeys
        var scripts: [InlineScript] = []
        for translation in translations.all { scripts.append(try InlineScript(ofFormIn: translation)) }
        formScripts = scripts
        generation = Self.lastGeneration.add(1, ordering: .relaxed).newValue
    }

    /// Returns the key of a response in a `ResponseCache`.
    ///
    /// The keys of two contexts are different.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - language: The index of its translation.
    /// - Returns: The key.
    package func key(of response: PersonalResponse, in language: Int) -> Int {
        (generation * Translations.maximumCount + language) * 8 + response.rawValue
    }

    /// Returns the key of a response for a host in a `ResponseCache`.
    ///
    /// The key differs from the keys of responses without a host. The keys of two hosts may be equal, so the user of the
    /// cache compares the host.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - host: The host.
    /// - Returns: The key, which is negative.
    package func key(of response: PersonalResponse, at host: String) -> Int {
        var hasher = Hasher()
        hasher.combine(key(of: response, in: 0))
        host.hashBytes(into: &hasher)
        return hasher.finalize() | Int.min
    }
}

/// The responses that depend only on an authentication.
package enum PersonalResponse: Int, Hashable {
    case welcomeHTML
    case welcomeText
    case forbiddenText
    case identity
    case envoyIdentity
    case identityUTF8
    case envoyIdentityUTF8
}
