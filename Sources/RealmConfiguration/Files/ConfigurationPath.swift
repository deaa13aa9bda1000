// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// The place of realms.conf where no other is named.
public enum ConfigurationPath {
    /// `realms.conf` in the current folder if it is there, else `/etc/gatehouse/realms.conf`.
    public static var standard: String {
        unsafe access("realms.conf", F_OK) == 0 ? "realms.conf" : "/etc/gatehouse/realms.conf"
    }
}
