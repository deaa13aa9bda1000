// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
internal import ServerConnections

struct LDAPSearch: Sendable {
    /// The base alone, the entries directly below it, or the base and all entries below it.
    enum Scope: Int32, Sendable { case base = 0, oneLevel, subtree }

    let base: String
    var scope = Scope.subtree
    let filter: String
    /// The names of the attributes that the server returns; none if the list is empty.
    let attributes: [String]
    /// The maximum number of entries; 0 for that of the server.
    var sizeLimit: Int32 = 0

    /// The request, for the log and the trace.
    var text: String { "search below \(base) for \(filter)" }

    /// Returns the search for the one entry with a distinguished name.
    static func entry(_ name: String, attributes: [String]) -> LDAPSearch {
        LDAPSearch(base: name, scope: .base, filter: "(objectClass=*)", attributes: attributes)
    }
}

struct LDAPSearchReply: Sendable {
    let reply: LDAPReply
    let entries: [LDAPEntry]
    /// The position of the next page; empty after the last one.
    let cookie: [UInt8]
}

struct LDAPEntry: Sendable {
    /// The distinguished name, as the server writes it.
    let name: String
    /// The attributes, with their names in lower case.
    let attributes: [(name: String, values: [[UInt8]])]
    /// False if the entry has more attributes or values than are read.
    var isComplete = true

    /// Returns the values of an attribute, whose name is given in lower case; none if there is no such attribute.
    func values(of name: String) -> [[UInt8]] { attributes.first { $0.name.hasBytes(of: name) }?.values ?? [] }

    /// Returns the values of an attribute that are UTF-8.
    func texts(of name: String) -> [String] { values(of: name).compactMap { UTF8Text(validating: $0.span)?.string } }
}

/// A search that was sent, and whose answer has not been received.
struct SentSearch {
    fileprivate let number: Int32
    fileprivate let maximumEntries: Int
}

extension LDAPHandle {
    /// A part of the entries that a search finds (RFC 2696).
    struct Page {
        /// The maximum number of entries.
        let size: Int32
        /// The position, as the server has returned it; empty for the first page.
        let cookie: [UInt8]
    }

    /// The maximum number of references in an answer, which are not followed.
    private static let maximumReferences = 10_000
    /// The maximum number of attributes of an entry, with those that are not used.
    private static let maximumAttributes = 1000
    /// The maximum number of values of an attribute.
    private static let maximumValues = 1000

    /// Sends a search, without waiting for the answer, which must be received by ``reply(to:)``; otherwise the connection
    /// must be closed.
    func send(_ search: LDAPSearch, page: Page? = nil) throws(ServerFault) -> SentSearch {
        guard !isClosed else { throw ServerFault(.lost, "the connection was closed") }
        // Where requests wait in the socket, the next one may have to wait, too.
        let sent =
            unanswered == 0
            ? try request(search, page: page)
            : try call.guarding(descriptor, until: call.end(within: transport.searchTimeout)) {
                () throws(ServerFault) in try request(search, page: page)
            }
        unanswered += 1
        return sent
    }

    private func request(_ search: LDAPSearch, page: Page?) throws(ServerFault) -> SentSearch {
        var control: UnsafeMutablePointer<LDAPControl>?
        if let page {
            var cookie = page.cookie
            let status = unsafe cookie.withUnsafeMutableBytes { bytes in
                let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                var value = unsafe berval(bv_len: ber_len_t(bytes.count), bv_val: base)
                return unsafe ldap_create_page_control(handle, ber_int_t(page.size), &value, 0, &control)
            }
            guard status == LDAP_SUCCESS else { throw ServerFault(.failed, "libldap cannot ask for a page") }
        }
        defer { if let control = unsafe control { unsafe ldap_control_free(control) } }
        var controls = unsafe [control, nil]
        var number: Int32 = 0
        let (base, scope, filter, limit) = (search.base, search.scope.rawValue, search.filter, search.sizeLimit)
        let attributes = search.attributes.isEmpty ? ["1.1"] : search.attributes
        var names: [UnsafeMutablePointer<CChar>?] = unsafe attributes.map { unsafe strdup($0) } + [nil]
        defer { unsafe names.forEach { unsafe free($0) } }
        let status = unsafe ldap_search_ext(
            handle,
            base,
            scope,
            filter,
            &names,
            0,
            &controls,
            nil,
            nil,
            limit,
            &number
        )
        if status == LDAP_FILTER_ERROR { throw ServerFault(.failed, "the filter \(search.filter) is not valid") }
        guard status == LDAP_SUCCESS else { throw lost(status) }
        let maximum = page?.size ?? (search.scope == .base ? 1 : search.sizeLimit == 0 ? .max : search.sizeLimit)
        return SentSearch(number: number, maximumEntries: Int(maximum))
    }

    /// Waits for the answer to a search.
    func reply(to search: SentSearch) throws(ServerFault) -> LDAPSearchReply {
        unanswered -= 1
        guard !isClosed else { throw ServerFault(.lost, "the connection was closed") }
        return try waiting(transport.searchTimeout) { end throws(ServerFault) in
            var entries: [LDAPEntry] = []
            var others = 0
            while true {
                let message = try unsafe next(search.number, kind: LDAP_MSG_ONE, until: end)
                defer { unsafe _ = ldap_msgfree(message) }
                switch unsafe ldap_msgtype(message) {
                case Int32(LDAP_RES_SEARCH_ENTRY): entries.append(try unsafe entry(message))
                case Int32(LDAP_RES_SEARCH_REFERENCE), Int32(LDAP_RES_INTERMEDIATE): others += 1
                default:
                    let (reply, cookie) = try unsafe parse(message, as: LDAP_RES_SEARCH_RESULT)
                    return LDAPSearchReply(reply: reply, entries: entries, cookie: cookie)
                }
                guard entries.count <= search.maximumEntries, others <= Self.maximumReferences else {
                    throw ServerFault(.lost, "the server has sent more entries than it was asked for")
                }
            }
        }
    }

    /// Reads an entry from its beginning to its end, once.
    ///
    /// A user may be able to write thousands of attributes with options, such as `mail;lang-de`. `ldap_get_values_len`
    /// would search each of them from the beginning of the entry.
    private func entry(_ message: OpaquePointer) throws(ServerFault) -> LDAPEntry {
        let malformed = ServerFault(.lost, "the server has sent a malformed entry")
        var place: OpaquePointer?
        var name = unsafe berval()
        guard unsafe ldap_get_dn_ber(handle, message, &place, &name) == LDAP_SUCCESS, let place = unsafe place else {
            throw malformed
        }
        defer { unsafe ber_free(place, 0) }
        var size: ber_len_t = 0
        let status = unsafe ber_get_option(UnsafeMutableRawPointer(place), LBER_OPT_BER_REMAINING_BYTES, &size)
        try count(status == LBER_OPT_SUCCESS ? Int(size) : .max)
        var attributes: [(name: String, values: [[UInt8]])] = []
        var isComplete = true
        // After the last attribute the end is read.
        for _ in 0...Self.maximumAttributes {
            var type = unsafe berval()
            var list: UnsafeMutablePointer<berval>?
            guard unsafe ldap_get_attribute_ber(handle, message, place, &type, &list) == LDAP_SUCCESS else {
                throw malformed
            }
            defer { if let list = unsafe list { unsafe ber_memfree(list) } }
            guard unsafe type.bv_val != nil else {
                return LDAPEntry(name: unsafe Self.name(name), attributes: attributes, isComplete: isComplete)
            }
            let text = unsafe String(decoding: Self.bytes(type), as: UTF8.self).lowercased()
            // No attribute with another option is used.
            guard !text.utf8.contains(UInt8(ascii: ";")) || text.utf8.firstRange(of: ";range=".utf8) != nil else {
                continue
            }
            // Attributes that name groups have as many values as a realm may allow.
            let namesGroups = text.utf8.firstRange(of: "member".utf8) != nil
            let maximum = namesGroups ? LDAPRealm.maximumGroups : Self.maximumValues
            var values: [[UInt8]] = []
            while let value = unsafe list?[values.count], unsafe value.bv_val != nil {
                guard values.count < maximum else {
                    isComplete = false
                    break
                }
                values.append(unsafe Self.bytes(value))
            }
            attributes.append((text, values))
        }
        return LDAPEntry(name: unsafe Self.name(name), attributes: attributes, isComplete: false)
    }

    /// Returns a distinguished name; bytes that are not UTF-8 are escaped, so that different names stay different.
    private static func name(_ value: berval) -> String {
        let bytes = unsafe Self.bytes(value)
        if let text = UTF8Text(validating: bytes.span) { return text.string }
        return bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : LDAPText.nameValue([$0]) }.joined()
    }
}
#endif
