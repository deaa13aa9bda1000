// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginConf

/// Reads all services of a folder with files of PAM; `Tests/Interop/pam-services.py` does it for packages of Debian.
enum PAMFolder {
    /// Returns a line for each service: `read` with the number of entries of the four types, or `refused` with the errors.
    static func answer(_ folder: String) throws -> String {
        let services = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return services.map { service in
            var resolver = PAMResolver { name throws(PAMResolver.UnreadableFile) in
                let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
                guard let content = FileManager.default.contents(atPath: path) else {
                    let isMissing = !FileManager.default.fileExists(atPath: path)
                    throw PAMResolver.UnreadableFile(isMissing ? "no such file" : "unreadable", isMissing: isMissing)
                }
                return SourceText(name: path, bytes: Array(content), names: PAMFile.names)
            }
            let stacks = PAMType.allCases.map { resolver.stack($0, of: service) }
            let diagnostics = stacks.flatMap(\.diagnostics)
            let texts = Set(diagnostics.map(\.logLine)).sorted().joined(separator: " / ")
            let counts = stacks.map { "\($0.partial.entries.count)" }.joined(separator: " ")
            let isRefused = diagnostics.contains { $0.severity == .error }
            return "\(isRefused ? "refused" : "read")\t\(folder)/\(service)\t\(isRefused ? "" : counts)\t\(texts)\n"
        }.joined()
    }
}
