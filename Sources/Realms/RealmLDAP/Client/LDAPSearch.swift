// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import CLDAP
internal import Glibc

/// The request of a search.
struct LDAPSearch: Sendable {
    /// The entries that are searched.
    enum Scope: Int32, Sendable {
        /// The base itself.
        case base = 0
        /// The entries directly below the base.
        case oneLevel = 1
        /// The base and all entries below it.
        case subtree = 2
    }

    let base: String
    var scope = Scope.subtree
    let filter: String
    let attributes: LDAPAttributeList
    /// The maximum number of entries; 0 for that of the server.
    var sizeLimit: Int32 = 0

    /// The request, for the log and the trace.
    var text: String { "search below \(base) for \(filter)" }

    /// Returns the search for the one entry with a distinguished name.
    static func entry(_ name: String, attributes: LDAPAttributeList) -> LDAPSearch {
        LDAPSearch(base: name, scope: .base, filter: "(objectClass=*)", attributes: attributes)
    }
}

/// The names of the attributes that a search requests, as libldap takes them.
@safe
final class LDAPAttributeList: Sendable {
    // The memory is written only in init and freed only in deinit.
    private nonisolated(unsafe) let pointers: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    /// Copies names; an empty list requests no attributes.
    init(_ names: [String]) {
        let list = names.isEmpty ? ["1.1"] : names
        unsafe pointers = .allocate(capacity: list.count + 1)
        for (index, name) in list.enumerated() { unsafe pointers.initializeElement(at: index, to: strdup(name)) }
        unsafe pointers.initializeElement(at: list.count, to: nil)
    }

    deinit {
        for index in unsafe 0..<pointers.count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }

    func withPointer<Result>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Result) -> Result {
        unsafe body(pointers.baseAddress)
    }
}
#endif
