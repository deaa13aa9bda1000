// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmConfiguration
internal import RealmKit

/// The users of a file of another product, with checked hashes, and hashes of their passwords in clear text.
struct ProductImport {
    /// The users as they were read, with the reasons why some cannot be imported.
    private(set) var imported: ImportedUsers
    private(set) var users: [NewUser] = []
    /// The reasons why passwords cannot be taken over.
    private(set) var passwordProblems: [String] = []
    /// The costs of the hashes of users who can sign in.
    private var costs: Set<HashCost> = []

    /// Checks the users for a realm; `progress` gets the number of users done so far.
    init(
        _ imported: ImportedUsers,
        for administration: UserAdministration,
        progress: @Sendable (Int) -> Void
    ) async throws {
        self.imported = imported
        for (index, user) in imported.users.enumerated() {
            progress(index)
            guard user.record.attributes.values(of: UserAttribute.mail).allSatisfy(UserAttributeOptions.isAddress)
            else {
                let reason = "the user \(user.record.name) is ignored: email is not one mail address"
                self.imported.addProblem("\(user.place): \(reason)")
                continue
            }
            switch user.password {
            case .none: add(user, hash: nil)
            case .hash(let mark) where PasswordFormats.isNoPassword(mark): add(user, hash: nil)
            case .unusable(let reason): add(user, withoutPassword: reason)
            case .hash(let hash):
                do throws(BadHash) {
                    let cost = try Self.cost(of: hash, passwords: administration.passwords)
                    if user.record.isEnabled { costs.insert(cost) }
                    add(user, hash: hash)
                } catch {
                    add(user, withoutPassword: error.description)
                }
            case .clearText(let password):
                do {
                    if let reason = Self.refusal(of: password, settings: administration.settings) {
                        add(user, withoutPassword: reason)
                    } else {
                        add(user, hash: try await administration.hash(password))
                    }
                } catch let error as CommandError where error.status == .failed {
                    // The policy has a maximum length.
                    add(user, withoutPassword: error.message)
                }
            }
        }
    }

    /// A warning about many different costs of the hashes; nil if there are only few.
    func costWarning(longestCheck: Duration) -> String? {
        HashCost.warning(about: costs.sorted { $0.description < $1.description }, longestCheck: longestCheck)
    }

    /// Checks a hash, and returns its cost.
    private static func cost(of hash: String, passwords: PasswordService) throws(BadHash) -> HashCost {
        let cost = try StoredPassword(hash).hash.cost
        if let fault = passwords.limitFault(cost) { throw BadHash(fault) }
        return cost
    }

    /// The reason why the settings do not allow a password, with the setting; nil if they allow it.
    private static func refusal(of password: Secret, settings: PasswordSettings) -> String? {
        do throws(HashFault) {
            try settings.check(password)
            return nil
        } catch {
            var shorter = settings
            shorter.minimumLength = 1
            let isTooShort = (try? shorter.check(password)) != nil
            return error.description
                + (isTooShort ? "; minimum-length of the passwords block in realms.conf sets it" : "")
        }
    }

    private mutating func add(_ user: ImportedUser, hash: String?) {
        users.append(NewUser(user.record, hash: hash, place: user.place))
    }

    private mutating func add(_ user: ImportedUser, withoutPassword reason: String) {
        add(user, hash: nil)
        passwordProblems.append("\(user.place): the password of \(user.record.name) cannot be taken over: \(reason)")
    }
}
