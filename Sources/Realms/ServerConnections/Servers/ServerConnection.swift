// SPDX-License-Identifier: Apache-2.0

/// An open connection to a server, used by one thread at a time.
package protocol ServerConnection: AnyObject, SendableMetatype {
    /// True if the connection can be used again: the server has not closed it, and has sent nothing unasked.
    var isUsable: Bool { get }

    /// Closes the connection; it is not used any more.
    func close()
}
