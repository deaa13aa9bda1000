// SPDX-License-Identifier: Apache-2.0

internal import CGatehouseBuild

/// The version of Gatehouse, for `--version`.
package enum BuildVersion {
    /// The version (https://semver.org), the only place that has it: packages and pages take it from here.
    package static let number = "0.1.0"

    /// The commit from which the program was built; nil if the build was not told.
    ///
    /// `make install` and `make package` set the variable `GATEHOUSE_COMMIT` for the build.
    package static var commit: String? { unsafe gatehouse_build_commit().map { unsafe String(cString: $0) } }

    /// Returns the first line of `--version` of a program, such as `gatehouse 0.1.0 (commit 0123456789ab)`.
    package static func line(_ program: String) -> String { "\(program) \(number) (commit \(commit ?? "unknown"))" }
}
