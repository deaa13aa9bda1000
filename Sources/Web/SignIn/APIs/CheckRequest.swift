// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import Synchronization

/// The body of a request to check credentials.
struct CheckRequest: Sendable {
    /// The reason for the response to a rejected body, without text of the request.
    struct Fault: Error, Sendable {
        let reason: String
    }

    /// A request counts as one failed login, so each further code would be a guess that is not counted.
    static let maximumCodes = 3

    /// The user name as the user typed it, not checked yet.
    let username: UTF8Text
    let password: Secret
    /// The answers to further questions after the password, in order.
    let codes: [Secret]
    let service: String
    /// The address of the user; nil if the program does not name it.
    let address: String?

    private static let names: [UTF8Text] = ["username", "password", "codes", "service", "address"]

    init(_ body: Span<UInt8>) throws(Fault) {
        let fields = try Result { () throws(BadFields) in try JSONFields(body) }
            .mapError { Fault(reason: $0.description) }.get()
        // If an unknown field were ignored, a misspelt "address" would disable the limit of failures by address.
        guard fields.values.keys.allSatisfy(Self.names.contains) else {
            let names = Self.names.map(\.string).joined(separator: ", ")
            throw Fault(reason: "an unknown field; the fields are \(names)")
        }
        guard let name = fields.text("username") else { throw Fault(reason: "username is missing or not a string") }
        guard let password = fields.secret("password") else {
            throw Fault(reason: "password is missing or not a string")
        }
        username = name
        self.password = password
        codes = try Self.codes(fields)
        service = try Self.service(fields)
        address = try Self.address(fields)
    }

    private static func codes(_ fields: JSONFields) throws(Fault) -> [Secret] {
        guard fields.values["codes"] != nil else { return [] }
        guard let codes = fields.secrets("codes"), codes.count <= maximumCodes else {
            throw Fault(reason: "codes is not an array of up to \(maximumCodes) strings")
        }
        return codes
    }

    private static func service(_ fields: JSONFields) throws(Fault) -> String {
        guard fields.values["service"] != nil else { return "https" }
        guard let service = fields.text("service"), LoginRequest.isService(service.string) else {
            let rule = "1 to \(LoginRequest.maximumServiceBytes) letters, digits, - _ and ., and does not begin with ."
            throw Fault(reason: "service is not a string of \(rule)")
        }
        return service.string
    }

    /// Returns the address in its canonical form, so that each address has one counter.
    private static func address(_ fields: JSONFields) throws(Fault) -> String? {
        guard fields.values["address"] != nil else { return nil }
        guard let text = fields.text("address"), let address = NetworkAddress(text.string[...]),
            isUsableZone(of: address, in: text.string)
        else { throw Fault(reason: "address is not an IPv4 or IPv6 address") }
        return address.description
    }

    /// Returns whether an address has no zone, or is link-local and has the name of an interface as its zone (RFC 4007
    /// section 11; `IF_NAMESIZE` of Linux).
    private static func isUsableZone(of address: NetworkAddress, in text: String) -> Bool {
        guard let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) else { return true }
        return address.prefix(10) == 0xFE80 << 112 && (1...15).contains(text.utf8[percent...].dropFirst().count)
    }
}

/// The conversation of a login whose answers are all in one request.
///
/// - A name callback is answered with the user name.
/// - The first password callback is answered with the password, and so are later password callbacks with the same
///   prompt, as with HTTP Basic.
/// - Any other password callback, and a one-time code callback, takes the next code. If no code is left, it is answered
///   with `none`, and the login counts as a failed guess because of the password.
/// - Messages are dropped.
final class CheckConversation: Conversation {
    private struct State {
        var prompt: String?
        var codes: ArraySlice<Secret>
    }

    private let name: String
    private let password: Secret
    private let state: Mutex<State>

    init(name: String, password: Secret, codes: [Secret]) {
        self.name = name
        self.password = password
        state = Mutex(State(codes: codes[...]))
    }

    var presentsSecret: Bool { true }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        state.withLock { state in
            callbacks.map { callback in
                switch callback {
                case .name: return .name(name)
                case .certificate, .message: return .none
                case .password(let prompt) where prompt == state.prompt ?? prompt:
                    state.prompt = prompt
                    return .secret(password)
                case .password, .oneTimeCode: return state.codes.popFirst().map(Answer.secret) ?? .none
                }
            }
        }
    }
}
