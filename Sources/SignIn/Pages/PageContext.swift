// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import AccessControl
internal import Synchronization

/// The parts that all pages of a configuration have in common.
package struct PageContext: Sendable {
    private static let generations = Atomic(0)

    /// The header fields that restrict what a browser does with a page.
    package let security: SecurityHeaders
    /// The paths of the pages.
    package let routes: Routes
    // The number differs after each reload, as pages that were rendered before may differ.
    private let generation: Int

    /// The context of a configuration.
    ///
    /// - Parameters:
    ///   - security: The header fields that restrict what a browser does with a page.
    ///   - routes: The paths of the pages.
    package init(security: SecurityHeaders, routes: Routes) {
        self.security = security
        self.routes = routes
        generation = Self.generations.add(1, ordering: .relaxed).newValue
    }

    /// Returns the key of a response in a `ResponseCache`; responses of other contexts have other keys.
    ///
    /// - Parameter response: The response.
    /// - Returns: The key.
    package func key(of response: PersonalResponse) -> Int { generation * 8 + response.rawValue }
}

/// The responses that depend on nothing but an authentication.
package enum PersonalResponse: Int, Hashable {
    case welcomeHTML
    case welcomeText
    case forbiddenHTML
    case forbiddenText
    case identity
    case envoyIdentity
}
