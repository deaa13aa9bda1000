// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import HTTPTypes

/// The kind of the client that sent a request, which determines how the server requests a sign-in.
package enum ClientKind: Sendable, Hashable {
    /// A browser that opens a page; it is redirected to the sign-in page.
    case navigation
    /// A script of a page; it gets 401, without the schemes for which a browser would open a dialog.
    case script
    /// Any other client; it gets 401 with all schemes.
    case other

    /// The kind by the values of `Sec-Fetch-Mode`, which all current browsers send, and of `X-Requested-With`, which
    /// scripts send.
    package init(mode: UTF8Text?, requestedWith: UTF8Text?, prefersHTML: Bool) {
        if let mode {
            self = mode == "navigate" ? .navigation : .script
        } else if requestedWith != nil {
            self = .script
        } else {
            self = prefersHTML ? .navigation : .other
        }
    }

    package init(_ fields: HTTPFields) {
        self.init(
            mode: fields.texts(of: .secFetchMode).first,
            requestedWith: fields.texts(of: .xRequestedWith).first,
            prefersHTML: AcceptField.prefersHTML(fields)
        )
    }
}

extension HTTPField.Name {
    package static func known(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name(name.description) else {
            // All names are constants, so the tests find an invalid name.
            preconditionFailure("\(name) is not a field name")
        }
        return name
    }

    package static let secFetchMode = known("Sec-Fetch-Mode")
    package static let xRequestedWith = known("X-Requested-With")
}

extension HTTPFields {
    /// Returns the values of all fields with a name, in order, to be compared byte by byte.
    package func texts(of name: HTTPField.Name) -> [UTF8Text] { self[values: name].map { UTF8Text($0) } }
}
