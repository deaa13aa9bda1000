// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginConf

/// Reads services of folders with files of PAM, for the scripts in `Tests/Interop`.
enum PAMFolder {
    private static func resolver(_ folder: String) -> PAMResolver {
        PAMResolver { name throws(Expansion.UnreadableFile) in
            let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
            guard let content = FileManager.default.contents(atPath: path) else {
                let isMissing = !FileManager.default.fileExists(atPath: path)
                throw Expansion.UnreadableFile(isMissing ? "no such file" : "unreadable", isMissing: isMissing)
            }
            return SourceText(name: path, bytes: Array(content), names: PAMFile.names)
        }
    }

    /// Returns a line for each service of a folder: `read` with the number of entries of the four types, or `refused` with the
    /// errors.
    static func answer(_ folder: String) throws -> String {
        let services = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return services.map { service in
            var resolver = resolver(folder)
            let stacks = PAMType.allCases.map { resolver.stack($0, of: service) }
            let diagnostics = stacks.flatMap(\.diagnostics)
            let texts = Set(diagnostics.map(\.logLine)).sorted().joined(separator: " / ")
            let counts = stacks.map { "\($0.partial.entries.count)" }.joined(separator: " ")
            let isRefused = diagnostics.contains { $0.severity == .error }
            return "\(isRefused ? "refused" : "read")\t\(folder)/\(service)\t\(isRefused ? "" : counts)\t\(texts)\n"
        }.joined()
    }

    /// Returns a line for each list of codes of a service, as `Tests/Interop/pam-dump.c` does; or one that is refused.
    static func runs(_ line: String) -> String {
        let fields = line.split(separator: "\t").map(String.init)
        let path = fields[0].split(separator: "/").map(String.init)
        var resolver = resolver("/" + path.dropLast().joined(separator: "/"))
        var stacks: [PAMType: PAMStack] = [:]
        for type in PAMType.allCases {
            let parsed = resolver.stack(type, of: path[path.count - 1])
            if let error = parsed.diagnostics.first(where: { $0.severity == .error }) {
                return "refused\t\(error.logLine)\n"
            }
            stacks[type] = parsed.partial
        }
        return fields.dropFirst().map { list in
            let parts = list.split(separator: ":")
            guard let type = PAMType(rawValue: String(parts[0])), let stack = stacks[type] else { return "no type\n" }
            let (code, called) = run(stack, list: parts[1].split(separator: ",").map { UInt8($0) ?? .max })
            let calls = called.map { ([$0.path] + $0.arguments).joined(separator: "\u{1F}") }
            return calls.map { "\u{1E}" + $0 }.joined() + "\u{1E}=\(code.rawValue)\n"
        }.joined()
    }

    /// Evaluates a stack whose modules return the codes of a list, in the order of their calls; the last one is repeated.
    private static func run(_ stack: PAMStack, list: [UInt8]) -> (PAMCode, [PAMModule]) {
        let modules = stack.entries.map { entry -> PAMModule? in
            guard case .module(let module, _) = entry.line.target else { return nil }
            let isMissing = ["pam_missing", "nonexistent/", "%N%"].contains(where: module.path.contains)
            return isMissing ? nil : module
        }
        var codes: [PAMCode?] = modules.map { $0 == nil ? .moduleUnknown : .success }
        // A code changes only the calls after it, so each evaluation makes the code of one more call right.
        while let (code, called) = PAMReplay.run(stack, codes: codes) {
            let calls = called.filter { modules[$0] != nil }
            let wanted = calls.indices.map { PAMCode(rawValue: list[min($0, list.count - 1)]) }
            guard calls.map({ codes[$0] }) == wanted else {
                for (index, code) in zip(calls, wanted) { codes[index] = code }
                continue
            }
            // libpam suspends the login then.
            let end = wanted.firstIndex(of: .incomplete)
            return (end == nil ? code : .incomplete, calls.prefix((end ?? calls.count) + 1).compactMap { modules[$0] })
        }
        return (.abort, [])
    }
}
