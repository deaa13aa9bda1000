// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LoginConf
internal import NIOCore
internal import RealmConfiguration

/// The error messages for addresses that cannot be bound.
enum BindErrors {
    /// Returns the error of an address, with the line of the address in the configuration.
    static func errors(_ error: any Error, _ address: Located<ServerSettings.Address>) -> ConfigurationErrors {
        switch error {
        case let error as IOError:
            address.bindErrors(error.errnoCode)
                ?? address.errors(
                    "cannot listen on \(address.value): \(unsafe String(cString: strerror(error.errnoCode)))"
                )
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            address.errors(
                "cannot listen on \(address.value): the host name cannot be resolved",
                hint: "HOST must be a name or an address of this machine"
            )
        default:
            address.errors(
                "cannot listen on \(address.value): \(error)",
                hint: "HOST must be a name or an address of this machine"
            )
        }
    }
}
