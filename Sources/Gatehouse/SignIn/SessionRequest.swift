// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What the body of a `POST /session` asks for.
enum SessionRequest {
    /// To sign in.
    case login(name: String, password: Secret, realm: String?)
    /// To go on with a login that has asked something.
    case answers(number: Int, [Secret?])

    /// Reads a body; nil for a type that is not read here.
    ///
    /// - Parameters:
    ///   - type: The body's type, without parameters and in lower case.
    ///   - body: The body.
    /// - Throws: ``BadFields`` for a body that is not what its type says, or lacks what is needed.
    init?(_ type: String, _ body: Span<UInt8>) throws(BadFields) {
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
            self = .login(name: name, password: password, realm: fields.text("realm"))
        }
    }

    private init(_ fields: FormFields) throws(BadFields) {
        if let number = try fields.text("number").flatMap({ Int($0) }) {
            self = .answers(number: number, (0..<16).map { fields.secret("answer-\($0)") })
        } else {
            guard let name = try fields.text("username"), let password = fields.secret("password") else {
                throw BadFields(.missing, at: 0)
            }
            self = .login(name: name, password: password, realm: try fields.text("realm"))
        }
    }
}
