// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit
internal import ServerConnections
internal import WorkerThreads

/// A search that was sent, and whose answer has not been received.
struct SentSearch {
    fileprivate let number: Int32
    /// The number of entries that were asked for.
    fileprivate let maximumEntries: Int
}

/// The searches of a connection.
extension LDAPHandle {
    /// Searches for entries.
    ///
    /// - Parameters:
    ///   - search: The base, the scope, the filter and the attributes.
    ///   - page: The number of entries of a page and the position of the page; nil for a search without pages.
    ///   - call: The call.
    ///   - limit: The time for the answer.
    /// - Returns: The entries.
    /// - Throws: ``ServerFault``; `failed` for a filter that libldap does not take.
    func search(
        _ search: LDAPSearch,
        page: (size: Int32, cookie: [UInt8])? = nil,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPSearchReply {
        try reply(to: try send(search, page: page, call: call, limit: limit), call: call, limit: limit)
    }

    /// Sends a search, without waiting for the answer.
    ///
    /// The answer must be received by ``reply(to:call:limit:)``, or the connection be closed.
    ///
    /// - Throws: ``ServerFault``; `failed` for a filter that libldap does not take.
    func send(
        _ search: LDAPSearch,
        page: (size: Int32, cookie: [UInt8])? = nil,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> SentSearch {
        let sent: SentSearch
        if unanswered == 0 {
            sent = try request(search, page: page)
        } else {
            // Where requests wait in the socket, the next one may have to wait, too.
            sent = try call.guarding(descriptor, until: call.end(within: limit)) { () throws(ServerFault) in
                try request(search, page: page)
            }
        }
        unanswered += 1
        return sent
    }

    private func request(
        _ search: LDAPSearch,
        page: (size: Int32, cookie: [UInt8])?
    ) throws(ServerFault) -> SentSearch {
        var control: UnsafeMutablePointer<LDAPControl>?
        if let page {
            var cookie = page.cookie
            let status = unsafe cookie.withUnsafeMutableBytes { bytes in
                var value = unsafe berval(
                    bv_len: ber_len_t(bytes.count),
                    bv_val: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                )
                return unsafe ldap_create_page_control(handle, ber_int_t(page.size), &value, 0, &control)
            }
            guard status == LDAP_SUCCESS else { throw ServerFault(.failed, "libldap cannot ask for a page") }
        }
        defer { if let control = unsafe control { unsafe ldap_control_free(control) } }
        var controls = unsafe [control, nil]
        var number: Int32 = 0
        let status = unsafe search.attributes.withPointer { attributes in
            unsafe ldap_search_ext(
                handle,
                search.base,
                search.scope.rawValue,
                search.filter,
                attributes,
                0,
                &controls,
                nil,
                nil,
                search.sizeLimit,
                &number
            )
        }
        if status == LDAP_FILTER_ERROR { throw ServerFault(.failed, "the filter \(search.filter) is not valid") }
        guard status == LDAP_SUCCESS else { throw lost(status) }
        let maximum = page?.size ?? (search.scope == .base ? 1 : search.sizeLimit == 0 ? .max : search.sizeLimit)
        return SentSearch(number: number, maximumEntries: Int(maximum))
    }

    /// Waits for the answer to a search.
    func reply(to search: SentSearch, call: ServerCall, limit: Duration) throws(ServerFault) -> LDAPSearchReply {
        unanswered -= 1
        return try waiting(call, limit: limit) { end throws(ServerFault) in
            var entries: [LDAPEntry] = []
            var others = 0
            while true {
                let message = try unsafe next(search.number, kind: LDAP_MSG_ONE, until: end)
                defer { unsafe _ = ldap_msgfree(message) }
                switch unsafe ldap_msgtype(message) {
                case Int32(LDAP_RES_SEARCH_ENTRY): entries.append(unsafe entry(message))
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

    /// The maximum number of references in an answer, which are not followed.
    private static let maximumReferences = 10_000

    func cookie(_ controls: UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>?) -> [UInt8] {
        guard unsafe controls != nil,
            let control = unsafe ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, nil)
        else { return [] }
        var count: ber_int_t = 0
        var value = unsafe berval()
        guard unsafe ldap_parse_pageresponse_control(handle, control, &count, &value) == LDAP_SUCCESS else { return [] }
        defer { if let base = unsafe value.bv_val { unsafe ber_memfree(base) } }
        return unsafe Self.bytes(value)
    }

    private func entry(_ entry: OpaquePointer) -> LDAPEntry {
        let nameText = unsafe ldap_get_dn(handle, entry)
        defer { if let nameText = unsafe nameText { unsafe ldap_memfree(nameText) } }
        var attributes: [(name: String, values: [[UInt8]])] = []
        var place: OpaquePointer?
        var next = unsafe ldap_first_attribute(handle, entry, &place)
        while let attribute = unsafe next {
            var values: [[UInt8]] = []
            if let list = unsafe ldap_get_values_len(handle, entry, attribute) {
                var index = 0
                while let value = unsafe list[index] {
                    values.append(unsafe Self.bytes(value.pointee))
                    index += 1
                }
                unsafe ldap_value_free_len(list)
            }
            attributes.append((unsafe String(cString: attribute).lowercased(), values))
            unsafe ldap_memfree(attribute)
            unsafe next = ldap_next_attribute(handle, entry, place)
        }
        if let place = unsafe place { unsafe ber_free(place, 0) }
        return LDAPEntry(name: unsafe nameText.map { unsafe String(cString: $0) } ?? "", attributes: attributes)
    }
}
#endif
