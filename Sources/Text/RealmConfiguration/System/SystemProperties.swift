// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The predefined properties for `${name}`, with the names of Java's system properties.
public enum SystemProperties {
    /// `user.name`, `user.home` and `user.dir`; a property that the system does not know is missing.
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
