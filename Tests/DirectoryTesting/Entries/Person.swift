// SPDX-License-Identifier: Apache-2.0

/// A user of a test directory.
package struct Person: Sendable {
    /// The login name: `uid` in OpenLDAP, `sAMAccountName` in Active Directory.
    package let uid: String
    /// The distinguished name.
    package let name: String
    /// The password at the start of the server.
    package let password: String
    /// The name for display.
    package let displayName: String

    package init(uid: String, name: String, password: String, displayName: String? = nil) {
        self.uid = uid
        self.displayName = displayName ?? uid
        self.name = name
        self.password = password
    }
}
