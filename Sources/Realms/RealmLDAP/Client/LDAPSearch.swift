// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

struct LDAPSearch: Sendable {
    /// The base alone, the entries directly below it, or the base and all entries below it.
    enum Scope: Int32, Sendable { case base = 0, oneLevel, subtree }

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

struct LDAPReply: Sendable {
    /// The values of the password policy control (draft-behera-ldap-password-policy).
    struct Policy: Sendable, Hashable {
        enum Problem: UInt32, Sendable, Hashable {
            case passwordExpired = 0, accountLocked, changeAfterReset, passwordModNotAllowed, mustSupplyOldPassword
            case insufficientPasswordQuality, passwordTooShort, passwordTooYoung, passwordInHistory
        }

        var problem: Problem?
        /// The seconds until the password expires.
        var secondsLeft: Int?
        /// The number of logins that are left with an expired password.
        var loginsLeft: Int?
    }

    /// The result code (RFC 4511 appendix A).
    let code: Int32
    let message: String
    /// The password policy control; nil if the server has sent none.
    var policy: Policy?
    var isSuccess: Bool { code == LDAP_SUCCESS }

    /// The code with its name and the message, for the log.
    var description: String {
        let name = unsafe String(cString: ldap_err2string(code))
        return message.isEmpty ? "\(code) (\(name))" : "\(code) (\(name)): \(message)"
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
}

/// A search that was sent, and whose answer has not been received.
struct SentSearch {
    fileprivate let number: Int32
    fileprivate let maximumEntries: Int
}

extension LDAPHandle {
    /// Searches for entries: all, or a page of them with its size and its position.
    func search(
        _ search: LDAPSearch,
        page: (size: Int32, cookie: [UInt8])? = nil,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> LDAPSearchReply {
        try reply(to: try send(search, page: page, call: call, limit: limit), call: call, limit: limit)
    }

    /// Sends a search, without waiting for the answer, which must be received by ``reply(to:call:limit:)``; otherwise
    /// the connection must be closed.
    func send(
        _ search: LDAPSearch,
        page: (size: Int32, cookie: [UInt8])? = nil,
        call: ServerCall,
        limit: Duration
    ) throws(ServerFault) -> SentSearch {
        guard !isClosed else { throw ServerFault(.lost, "the connection was closed") }
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
        let (base, scope, filter, limit) = (search.base, search.scope.rawValue, search.filter, search.sizeLimit)
        let status = unsafe search.attributes.withPointer { names in
            unsafe ldap_search_ext(handle, base, scope, filter, names, 0, &controls, nil, nil, limit, &number)
        }
        if status == LDAP_FILTER_ERROR { throw ServerFault(.failed, "the filter \(search.filter) is not valid") }
        guard status == LDAP_SUCCESS else { throw lost(status) }
        let maximum = page?.size ?? (search.scope == .base ? 1 : search.sizeLimit == 0 ? .max : search.sizeLimit)
        return SentSearch(number: number, maximumEntries: Int(maximum))
    }

    /// Waits for the answer to a search.
    func reply(to search: SentSearch, call: ServerCall, limit: Duration) throws(ServerFault) -> LDAPSearchReply {
        unanswered -= 1
        guard !isClosed else { throw ServerFault(.lost, "the connection was closed") }
        return try waiting(call, limit: limit) { end throws(ServerFault) in
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

    /// The maximum number of references in an answer, which are not followed.
    private static let maximumReferences = 10_000

    func cookie(_ controls: UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>?) -> [UInt8] {
        guard unsafe controls != nil, let control = unsafe ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, nil)
        else { return [] }
        var count: ber_int_t = 0
        var value = unsafe berval()
        guard unsafe ldap_parse_pageresponse_control(handle, control, &count, &value) == LDAP_SUCCESS else { return [] }
        defer { if let base = unsafe value.bv_val { unsafe ber_memfree(base) } }
        return unsafe Self.bytes(value)
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
        try count(unsafe Self.remaining(place))
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
            let text = unsafe Self.text(type).lowercased()
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

    /// The maximum number of attributes of an entry, with those that are not used.
    private static let maximumAttributes = 1000
    /// The maximum number of values of an attribute.
    private static let maximumValues = 1000
    private static func text(_ value: berval) -> String { unsafe String(decoding: bytes(value), as: UTF8.self) }

    /// Returns a distinguished name; bytes that are not UTF-8 are escaped, so that different names stay different.
    private static func name(_ value: berval) -> String {
        let bytes = unsafe Self.bytes(value)
        if let text = UTF8Text(validating: bytes.span) { return text.string }
        return bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : LDAPText.nameValue([$0]) }.joined()
    }

    private static func remaining(_ place: OpaquePointer) -> Int {
        var count: ber_len_t = 0
        return unsafe ber_get_option(UnsafeMutableRawPointer(place), LBER_OPT_BER_REMAINING_BYTES, &count)
            == LBER_OPT_SUCCESS ? Int(count) : Int.max
    }
}
#endif
