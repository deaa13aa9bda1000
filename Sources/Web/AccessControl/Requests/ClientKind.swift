// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import HTTPTypes

/// The kind of the client that sent a request.
///
/// It determines how the server requests a sign-in.
package enum ClientKind: Sendable, Hashable {
    /// A browser that opens a page; it is redirected to the sign-in page.
    case navigation
    /// A script of a page; it gets 401, without the schemes for which a browser would open a dialog.
    case script
    /// Any other client; it gets 401 with all schemes.
    case other

    /// The kind of a request's client.
    ///
    /// - Parameters:
    ///   - mode: The value of `Sec-Fetch-Mode`, which all current browsers send.
    ///   - requestedWith: The value of `X-Requested-With`, which scripts send.
    ///   - prefersHTML: True if the client prefers HTML.
    package init(mode: UTF8Text?, requestedWith: UTF8Text?, prefersHTML: Bool) {
        if let mode {
            self = mode == "navigate" ? .navigation : .script
        } else if requestedWith != nil {
            self = .script
        } else {
            self = prefersHTML ? .navigation : .other
        }
    }

    /// The kind of a request's client.
    ///
    /// - Parameter fields: The request's fields.
    package init(_ fields: HTTPFields) {
        self.init(
            mode: fields.texts(of: .secFetchMode).first,
            requestedWith: fields.texts(of: .xRequestedWith).first,
            prefersHTML: AcceptField.prefersHTML(fields)
        )
    }
}
