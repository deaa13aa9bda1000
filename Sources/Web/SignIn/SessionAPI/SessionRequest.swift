// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The body of a `POST /session` request.
enum SessionRequest {
    /// A sign-in.
    case login(name: UTF8Text, password: Secret, realm: UTF8Text?)
    /// The answers to the open question of a login.
    case answers(number: Int, [Secret?])

    /// Parses a body; nil if its type is not supported.
    ///
    /// - Parameters:
    ///   - type: The media type of the body, in lower case and without parameters.
    ///   - body: The body.
    /// - Throws: ``BadFields`` if the body is malformed or a required field is missing.
    init?(_ type: UTF8Text, _ body: Span<UInt8>) throws(BadFields) {
        switch type {
        case "application/json": try self.init(JSONFields(body))
        case "application/x-www-form-urlencoded": try self.init(FormFields(body))
        default: return nil
        }
    }

    private init(_ fields: JSONFields) throws(BadFields) {
        if let answers = fields.secrets("answers") {
            guard let number = fields.integer("number") else {
                throw BadFields(.missing, at: 0)
            }
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
