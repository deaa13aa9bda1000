// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Passwords
import RealmKit
import Testing

@Suite struct UnusablePasswordTests {
    private static let bcrypt = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.3WPQy/x8EhyouO1Eia.f.CS216k/lTq"

    private func fault(_ stored: String, _ password: [UInt8]) throws -> HashFault? {
        let hash = try PasswordFormats.read(stored)
        do {
            _ = try hash.matches(Secret(password))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: HashVector.all)
    func `a password of more than 1024 bytes is unusable with every format`(vector: HashVector) throws {
        let hash = try vector.read()
        #expect(throws: HashFault(.unusable, "")) { try hash.matches(Secret([UInt8](repeating: 0x61, count: 1025))) }
    }

    @Test func `bcrypt accepts 72 bytes, and rejects a longer password instead of truncating it`() throws {
        #expect(try fault(Self.bcrypt, [UInt8](repeating: 0x61, count: 72)) == nil)
        #expect(try fault(Self.bcrypt, [UInt8](repeating: 0x61, count: 73))?.code == .unusable)
        let vector = HashVector.crypt[3]
        #expect(try vector.read().matches(vector.secret))
        #expect(try fault(vector.stored, vector.password + Array("more".utf8))?.code == .unusable)
    }

    @Test func `a password is rejected if DES would ignore some of its bytes or bits`() throws {
        #expect(try fault("CC4rMpbg9AMZ.", Array("U*U***U*x".utf8))?.code == .unusable)
        #expect(try fault("CC4rMpbg9AMZ.", [0xd5] + Array("*U***U*".utf8))?.code == .unusable)
        #expect(try fault("_J9..CCCCXBrJUJV154M", [0xd5] + Array("*U*U*U*".utf8))?.code == .unusable)
    }

    @Test func `a password with a NUL byte is never passed to crypt(3)`() throws {
        for vector in HashVector.crypt {
            let fault = try fault(vector.stored, vector.password + [0])
            #expect(fault?.code == .unusable, "\(vector.stored)")
        }
    }

    @Test func `crypt(3) takes at most 511 bytes`() throws {
        let stored = "$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020"
        #expect(try fault(stored, [UInt8](repeating: 0x61, count: 511)) == nil)
        #expect(try fault(stored, [UInt8](repeating: 0x61, count: 512))?.code == .unusable)
    }

    @Test func `the error for an unusable password does not quote the password`() throws {
        let password = "correct horse battery staple" + String(repeating: "!", count: 72)
        let fault = try #require(try fault(Self.bcrypt, Array(password.utf8)))
        #expect(!fault.description.contains("horse"))
        #expect(fault.description == "the password has 100 bytes; bcrypt takes at most 72")
    }

    @Test func `a hash of the broken bcrypt variant 2x is rejected with the reason`() {
        #expect { try PasswordFormats.read("$2x$05$6bNw2HLQYeqHYyBfLMsv/OUcZd0LKP39b87nBw3.S2tVZSqiQX6eu") } throws: {
            "\($0)".contains("broken implementation")
        }
    }

    @Test(arguments: MalformedHash.all)
    func `a malformed hash is rejected`(stored: String) {
        #expect(throws: BadHash.self) { try PasswordFormats.read(stored) }
    }
}
