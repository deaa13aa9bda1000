// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The values in the JSON body of a response of the realm API.
struct RealmAPIBody {
    private let values: [String: JSONValues]

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - paths: The paths whose values are used.
    /// - Throws: ``RealmAPIAnswer/Fault`` if the body is not JSON.
    init(_ response: RemoteTransport.Response, paths: [String]) throws(RealmAPIAnswer.Fault) {
        guard JSONMediaType.isJSON(response.contentType ?? "") else {
            throw RealmAPIAnswer.Fault(reason: "it has the type \(response.contentType ?? "none"), not JSON")
        }
        let known = paths.compactMap { text in JSONPath(text).map { (text, $0) } }
        var reader = JSONReader(known.map(\.1))
        do throws(JSONReader.Fault) {
            try reader.read(response.body.span)
            try reader.finish()
        } catch {
            throw RealmAPIAnswer.Fault(reason: "it is not valid JSON: \(error.description)")
        }
        values = Dictionary(zip(known.map(\.0), reader.values)) { first, _ in first }
    }

    private func found(_ path: String) throws(RealmAPIAnswer.Fault) -> JSONValues {
        let found = values[path] ?? JSONValues()
        guard !found.hasWrongType else { throw fault(path, "is not a text") }
        return found
    }

    private func fault(_ path: String, _ text: String) -> RealmAPIAnswer.Fault {
        RealmAPIAnswer.Fault(reason: "\(path) \(text)")
    }

    /// Returns the string at a path; nil if there is none.
    func text(_ path: String) throws(RealmAPIAnswer.Fault) -> String? {
        let found = try found(path)
        guard !found.hasArray else { throw fault(path, "is not a text") }
        return found.strings.first
    }

    /// Returns the strings of the array at a path.
    func texts(_ path: String) throws(RealmAPIAnswer.Fault) -> [String] {
        let found = try found(path)
        guard found.hasArray else { throw fault(path, "is missing, or no array of texts") }
        return found.strings
    }

    /// Returns the strings at a path with `*`, one for each element of the array.
    func elements(_ path: String) throws(RealmAPIAnswer.Fault) -> [String] {
        let found = try found(path)
        guard found.isPresent, !found.hasArray, found.elements == found.strings.count,
            found.names.allSatisfy({ $0 == nil })
        else { throw fault(path, "is missing, or is no text") }
        return found.strings
    }

    /// Returns the strings of the members of an object, by their names.
    func members(_ path: String) throws(RealmAPIAnswer.Fault) -> [String: [String]] {
        let found = try found(path)
        var members: [String: [String]] = [:]
        for (name, value) in zip(found.names, found.strings) {
            guard let name else { throw fault(path, "is no member of an object") }
            members[name.string, default: []].append(value)
        }
        return members
    }
}
