// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

extension HTTPField.Name {
    /// Creates a field name from a constant.
    ///
    /// - Parameter name: A token of RFC 9110 section 5.6.2.
    /// - Returns: The field name.
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
