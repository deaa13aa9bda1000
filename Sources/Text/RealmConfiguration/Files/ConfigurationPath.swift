// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The default path of realms.conf.
public enum ConfigurationPath {
    /// The path of an installed configuration.
    static let installed = "/etc/gatehouse/realms.conf"

    /// `realms.conf` if the current folder has this file, otherwise `/etc/gatehouse/realms.conf`.
    public static var standard: String { unsafe access("realms.conf", F_OK) == 0 ? "realms.conf" : installed }
}
