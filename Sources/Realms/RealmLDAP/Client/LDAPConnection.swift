// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit
internal import ServerConnections

/// The connections of one thread to one server: one for searches, and one for the binds of users.
final class LDAPConnection: ServerConnection {
    /// The abilities of the server by its root entry (RFC 4512 section 5.1).
    struct Abilities: Sendable {
        /// True for Active Directory and Samba.
        let isActiveDirectory: Bool
        /// True if the extended operation of RFC 3062 is supported.
        let changesPasswords: Bool
    }

    /// The number of entries that a server is asked for at once.
    static let pageSize: Int32 = 500
    /// The maximum number of searches without an answer; slapd allows 100 before a bind.
    private static let maximumSent = 32
    private static let abilityAttributes = ["supportedCapabilities", "supportedExtension"]

    let url: LDAPServerURL
    let settings: LDAPSettings
    private(set) var call: ServerCall
    /// The connection for searches; nil if users bind without a search.
    private var service: LDAPHandle?
    private var user: LDAPHandle?
    private var knownAbilities: Abilities?
    /// True if the last search has failed because its answer was too large.
    private(set) var wasTooLarge = false

    init(_ url: LDAPServerURL, settings: LDAPSettings, call: ServerCall) throws(ServerFault) {
        (self.url, self.settings, self.call) = (url, settings, call)
        _ = try searchHandle()
    }

    /// Begins a call, which may receive as many bytes as one may.
    func begin(_ call: ServerCall) {
        self.call = call
        for handle in [service, user].compactMap(\.self) {
            (handle.call, handle.bytesLeft) = (call, LDAPHandle.maximumBytes)
        }
    }

    private func open() throws(ServerFault) -> LDAPHandle {
        let time = call.end(within: settings.transport.connectTimeout)
        return try LDAPHandle(url, transport: settings.transport, call: call, until: time)
    }

    /// The connection for the binds of users, which is opened if there is none.
    private func userHandle() throws(ServerFault) -> LDAPHandle {
        if let user { return user }
        let handle = try open()
        user = handle
        return handle
    }

    /// The connection for searches, which is opened if there is none: after a direct bind, that of the user.
    private func searchHandle() throws(ServerFault) -> LDAPHandle {
        if case .none = settings.serviceBind { return try userHandle() }
        if let service, !service.isClosed { return service }
        // A handle without an owner is closed.
        let handle = try open()
        try bind(handle)
        service = handle
        return handle
    }

    private func bind(_ handle: LDAPHandle) throws(ServerFault) {
        let reply: LDAPReply
        switch settings.serviceBind {
        case .none, .anonymous: return
        case .external: reply = try handle.bindExternal()
        case .simple(let name, let password):
            reply = try handle.bind(name, password: password, asksForPolicy: false)
        }
        guard reply.isSuccess else {
            let name = settings.serviceBind.name
            throw ServerFault(.rejected, "the bind of this program as \(name) was rejected: \(reply.description)")
        }
    }

    var isUsable: Bool { (service?.isUsable ?? true) && (user?.isUsable ?? true) }

    func close() {
        let isBroken = !isUsable
        service?.close(isBroken: isBroken)
        user?.close(isBroken: isBroken)
    }

    // MARK: Searches

    /// Searches, and returns the entries; throws if the server has more than it returns.
    func search(_ search: LDAPSearch) throws(ServerFault) -> [LDAPEntry] {
        let found = try reply(to: search)
        // More entries than were asked for are an answer, too; fewer are one of a server with a lower limit.
        let isLimited =
            found.reply.code == LDAP_SIZELIMIT_EXCEEDED && search.sizeLimit > 0
            && found.entries.count >= Int(search.sizeLimit)
        guard found.reply.isSuccess || isLimited else { throw Self.fault(found.reply, search: search) }
        return found.entries
    }

    /// Searches with pages, and passes the entries of each page to a function.
    func searchAll(
        _ search: LDAPSearch,
        _ body: ([LDAPEntry]) throws(ServerFault) -> Void
    ) throws(ServerFault) {
        var cookie: [UInt8] = []
        repeat {
            let found = try reply(to: search, page: LDAPHandle.Page(size: Self.pageSize, cookie: cookie))
            guard found.reply.isSuccess else { throw Self.fault(found.reply, search: search) }
            try body(found.entries)
            cookie = found.cookie
        } while !cookie.isEmpty
    }

    private func reply(to search: LDAPSearch, page: LDAPHandle.Page? = nil) throws(ServerFault) -> LDAPSearchReply {
        wasTooLarge = false
        return try Result { () throws(ServerFault) -> LDAPSearchReply in
            let handle = try searchHandle()
            return try handle.reply(to: handle.send(search, page: page))
        }.mapError(checked).get()
    }

    /// Returns the fault of a search, after which the server is lost if it answers no other search either.
    ///
    /// Otherwise the answer was too large: a user may have made the own entry so large.
    private func checked(_ fault: ServerFault) -> ServerFault {
        guard fault.code == .failed, service?.isClosed == true else { return fault }
        do throws(ServerFault) {
            let handle = try searchHandle()
            _ = try handle.reply(to: handle.send(.entry("", attributes: Self.abilityAttributes)))
            wasTooLarge = true
            return fault
        } catch {
            return error.code == .failed ? ServerFault(.lost, error.log) : error
        }
    }

    /// Makes searches, and sends each without waiting for the answers to those before it.
    ///
    /// The function gets the number of a search and its entries, in the order of the searches; nil if the server does not
    /// return so many entries at once. It may search itself.
    func search(
        each searches: [LDAPSearch],
        _ body: (Int, [LDAPEntry]?) throws(ServerFault) -> Void
    ) throws(ServerFault) {
        let handle = try searchHandle()
        var sent: [SentSearch] = []
        var failure: ServerFault?
        var received = 0
        while true {
            while failure == nil, sent.count < min(searches.count, received + Self.maximumSent) {
                let search = searches[sent.count]
                do throws(ServerFault) {
                    sent.append(try handle.send(search))
                } catch {
                    guard error.code == .failed else { throw Self.fault(error, search: search) }
                    failure = error
                }
            }
            guard received < sent.count else { break }
            let (number, search) = (received, searches[received])
            received += 1
            let found: LDAPSearchReply
            do throws(ServerFault) {
                found = try handle.reply(to: sent[number])
            } catch {
                guard let failure else { throw Self.fault(checked(error), search: search) }
                // An answer that arrives later must not be taken for that of another login.
                handle.close(isBroken: true)
                throw failure
            }
            // After a failure the other answers are received only so that the connection can be used again.
            guard failure == nil else { continue }
            do throws(ServerFault) {
                try body(number, try Self.entries(found, of: search))
            } catch {
                guard error.code == .failed else { throw error }
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Returns the entries of an answer; nil if the server has more, and does not return them at once.
    private static func entries(_ found: LDAPSearchReply, of search: LDAPSearch) throws(ServerFault) -> [LDAPEntry]? {
        let code = found.reply.code
        if search.sizeLimit > 0, code == LDAP_SIZELIMIT_EXCEEDED || code == LDAP_ADMINLIMIT_EXCEEDED { return nil }
        guard found.reply.isSuccess else { throw fault(found.reply, search: search) }
        return found.entries
    }

    private static func fault(_ reply: LDAPReply, search: LDAPSearch) -> ServerFault {
        let filter = LDAPText.printable(search.filter)
        return ServerFault(.failed, "the search below \(search.base) for \(filter) has failed: \(reply.description)")
    }

    /// Adds the request to the text of a fault.
    private static func fault(_ fault: ServerFault, search: LDAPSearch) -> ServerFault {
        ServerFault(fault.code, "\(LDAPText.printable(search.text)): \(fault.log)")
    }

    /// Returns the abilities of the server, which are read once for each connection.
    func abilities() throws(ServerFault) -> Abilities {
        if let knownAbilities { return knownAbilities }
        let root = try search(.entry("", attributes: Self.abilityAttributes)).first
        func has(_ identifier: String, in attribute: String) -> Bool {
            root?.values(of: attribute).contains(Array(identifier.utf8)) == true
        }
        let abilities = Abilities(
            isActiveDirectory: has("1.2.840.113556.1.4.800", in: "supportedcapabilities"),
            changesPasswords: has("1.3.6.1.4.1.4203.1.11.1", in: "supportedextension")
        )
        knownAbilities = abilities
        return abilities
    }

    // MARK: Operations of users

    func bind(_ name: String, password: Secret) throws(ServerFault) -> LDAPReply {
        try userHandle().bind(name, password: password)
    }

    /// Changes the password of the user who has bound with ``bind(_:password:)``.
    func changeOwnPassword(of name: String, from old: Secret, to new: Secret) throws(ServerFault) -> LDAPReply {
        try userHandle().changePassword(of: name, from: old, to: new)
    }

    /// Changes the password of a user of Active Directory, by the old password.
    ///
    /// A user whose password has expired cannot bind, so this is done on the connection for searches. The directory
    /// checks the old password and its rules, as for a change by the user.
    func changeActiveDirectoryPassword(
        of name: String,
        from old: Secret,
        to new: Secret
    ) throws(ServerFault) -> LDAPReply {
        try searchHandle().replace("unicodePwd", of: name, from: old, to: new)
    }
}
#endif
