// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes

/// Who asks, as far as that matters for how they are told to sign in.
enum Asker: Sendable, Hashable {
    /// A person who goes to a page: is sent to the sign-in page.
    case person
    /// A script of a page: is told 401, and by no scheme that a browser would open a window for.
    case script
    /// Anything else: is told 401 with all schemes.
    case program

    /// Who asks.
    ///
    /// - Parameters:
    ///   - mode: The value of `Sec-Fetch-Mode`, which all current browsers send.
    ///   - requestedWith: The value of `X-Requested-With`, which scripts send.
    ///   - asHTML: Whether HTML is asked for.
    init(mode: String?, requestedWith: String?, asHTML: Bool) {
        if let mode {
            self = mode == "navigate" ? .person : .script
        } else if requestedWith != nil {
            self = .script
        } else {
            self = asHTML ? .person : .program
        }
    }

    /// Who asks.
    ///
    /// - Parameter fields: The request's fields.
    init(_ fields: HTTPFields) {
        self.init(
            mode: fields[.secFetchMode],
            requestedWith: fields[.xRequestedWith],
            asHTML: AcceptField.prefersHTML(fields)
        )
    }
}
