// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What `${name}` stands for in login.conf without anybody's saying so, under the names Java has for it.
public enum SystemProperties {
    /// `user.name`, `user.home`, `user.dir`; what the system does not tell is left out.
    public static var all: [String: String] {
        var properties: [String: String] = [:]
        if let entry = unsafe getpwuid(geteuid()) {
            properties["user.name"] = unsafe String(cString: entry.pointee.pw_name)
            properties["user.home"] = unsafe String(cString: entry.pointee.pw_dir)
        }
        if let folder = unsafe getcwd(nil, 0) {
            properties["user.dir"] = unsafe String(cString: folder)
            unsafe free(folder)
        }
        return properties
    }
}

/// Where a configuration is looked for when nobody names one.
public enum ConfigurationPath {
    /// `realms.conf` in the current folder if it is there, else `/etc/gatehouse/realms.conf`.
    public static var standard: String {
        unsafe access("realms.conf", F_OK) == 0 ? "realms.conf" : "/etc/gatehouse/realms.conf"
    }
}
