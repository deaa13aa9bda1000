// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import OpenSSLKit
internal import RealmConfiguration
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
            switch fields.value("realm") {
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

/// The session of the request; all times are seconds since 1970.
struct SessionJSON: Encodable {
    let id: String
    let user: String
    let realm: String
    let host: String
    let groups: [String]
    let attributes: [String: [String]]
    let created: Int
    let lastSeen: Int
    let idleExpiresAt: Int
    let absoluteExpiresAt: Int
    let warnAt: Int
    let now: Int
    /// The CSRF token, for forms of the application.
    let csrf: Nullable<String>

    init(_ session: Session, token: OpaqueToken, now: Int) {
        id = session.id.description
        user = session.user.username.text
        realm = session.user.realm
        host = session.host.name
        groups = session.user.groups
        attributes = session.user.attributes.valuesByName
        created = session.created
        lastSeen = session.lastSeen
        idleExpiresAt = session.idleExpiry
        absoluteExpiresAt = session.absoluteExpiry
        warnAt = session.warningTime
        self.now = now
        csrf = Nullable(value: CSRFToken.text(token))
    }
}

/// A session in the list of a user's sessions.
struct ListedSessionJSON: Encodable {
    let id: String
    let device: String
    let host: String
    let address: Nullable<String>
    let created: Int
    let lastSeen: Int
    /// True for the session of the request.
    let current: Bool

    init(_ session: Session, isCurrent: Bool) {
        id = session.id.description
        device = DeviceName.of(session.client.userAgent.utf8Span.span).text(in: .english)
        host = session.host.name
        address = Nullable(value: session.client.address)
        created = session.created
        lastSeen = session.lastSeen
        current = isCurrent
    }
}

/// The open question of a login, which may have several callbacks.
struct QuestionJSON: Encodable {
    /// One callback of the question.
    struct Part: Encodable {
        let type: String
        var prompt: String?
        var text: String?

        init(_ callback: Callback) {
            switch callback {
            case .name(let prompt): (type, self.prompt) = ("name", prompt)
            case .password(let prompt): (type, self.prompt) = ("password", prompt)
            case .oneTimeCode(let prompt): (type, self.prompt) = ("one-time-code", prompt)
            case .certificate: type = "certificate"
            case .message(let text): (type, self.text) = ("message", text)
            }
        }
    }

    let questions: [Part]
    let number: Int
    /// The seconds that the user has for the answer.
    let expiresIn: Int
}
