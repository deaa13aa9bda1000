// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// The body of a `POST /session` request.
enum SessionRequest {
    case login(name: UTF8Text, password: Secret, realm: UTF8Text?)
    /// The answers to the open question of a login.
    case answers(number: Int, [Secret?])

    /// Parses a body; nil if its type, in lower case and without parameters, is not supported.
    init?(_ type: UTF8Text, _ body: Span<UInt8>) throws(BadFields) {
        switch type {
        case "application/json": try self.init(JSONFields(body))
        case "application/x-www-form-urlencoded": try self.init(FormFields(body))
        default: return nil
        }
    }

    private init(_ fields: JSONFields) throws(BadFields) {
        if let answers = fields.secrets("answers") {
            guard let number = fields.integer("number") else { throw BadFields(.missing, at: 0) }
            self = .answers(number: number, answers)
        } else {
            guard let name = fields.text("username"), let password = fields.secret("password") else {
                throw BadFields(.missing, at: 0)
            }
            switch fields.values["realm"] {
            case nil: self = .login(name: name, password: password, realm: nil)
            case .string(let realm)?: self = .login(name: name, password: password, realm: realm.utf8Text)
            // If the client names a realm, the user must not be signed in to another realm.
            case .strings?, .boolean?, .integer?, .null?: throw BadFields(.type, at: 0)
            }
        }
    }

    private init(_ fields: FormFields) throws(BadFields) {
        if let number = try fields.text("number").flatMap({ Int($0.string) }) {
            self = .answers(number: number, (0..<16).map { fields.secret(UTF8Text("answer-\($0)")) })
        } else {
            guard let name = try fields.text("username"), let password = fields.secret("password") else {
                throw BadFields(.missing, at: 0)
            }
            self = .login(name: name, password: password, realm: try fields.text("realm"))
        }
    }
}

extension Session {
    /// The session of the request; all times are seconds since 1970, and the CSRF token is for forms of the application.
    func json(token: OpaqueToken, now: Int) -> JSONValue {
        // In the order of the names, because each sign-in would sort them otherwise.
        .object([
            ("absolute_expires_at", .number(absoluteExpiry)),
            ("attributes", .lists(user.attributes.valuesByName)),
            ("created", .number(created)),
            ("csrf", CSRFToken.text(token).map(JSONValue.text) ?? .null),
            ("groups", .texts(user.groups)),
            ("host", .text(host.name)),
            ("id", .text(id.description)),
            ("idle_expires_at", .number(idleExpiry)),
            ("last_seen", .number(lastSeen)),
            ("now", .number(now)),
            ("realm", .text(user.realm)),
            ("user", .text(user.username.text)),
            ("warn_at", .number(warningTime)),
        ])
    }

    /// A session in the list of a user's sessions; the current one is that of the request.
    func listedJSON(isCurrent: Bool) -> JSONValue {
        [
            "id": .text(id.description),
            "device": .text(DeviceName.of(client.userAgent.utf8Span.span).text(in: .english)),
            "host": .text(host.name),
            "address": client.address.map(JSONValue.text) ?? .null,
            "created": .number(created),
            "last_seen": .number(lastSeen),
            "current": .boolean(isCurrent),
        ]
    }
}

extension Callback {
    /// A part of the open question of a login.
    var json: JSONValue {
        switch self {
        case .name(let prompt): ["type": .text("name"), "prompt": .text(prompt)]
        case .password(let prompt): ["type": .text("password"), "prompt": .text(prompt)]
        case .oneTimeCode(let prompt): ["type": .text("one-time-code"), "prompt": .text(prompt)]
        case .certificate: ["type": .text("certificate")]
        case .message(let text): ["type": .text("message"), "text": .text(text)]
        }
    }
}
