// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Testing

@testable import RealmLDAP

/// The texts and values of Active Directory.
struct ActiveDirectoryTests {
    @Test(
        arguments: [
            ("80090308: LdapErr: DSID-0C090439, comment: AcceptSecurityContext error, data 52e, v4563", 0x52E),
            ("80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data 533, v1db1", 0x533),
            ("AcceptSecurityContext error, data 775", 0x775), ("AcceptSecurityContext error, data 52E,", 0x52E),
            ("data 52e", nil), ("AcceptSecurityContext error, data , v", nil), ("AcceptSecurityContext error", nil),
            ("AcceptSecurityContext error, data 123456789, v", nil), ("data 1, AcceptSecurityContext error", nil),
            ("", nil),
        ] as [(String, UInt32?)]
    )
    func `the code of a rejected bind is read`(message: String, code: UInt32?) {
        #expect(BindProblem.activeDirectoryCode(message) == code)
    }

    @Test(
        arguments: [
            ("525", .wrongCredentials, false), ("52e", .wrongCredentials, false), ("530", .permissionDenied, false),
            ("531", .permissionDenied, false), ("532", .credentialExpired, true), ("533", .disabled, false),
            ("701", .accountExpired, false), ("773", .credentialExpired, true), ("775", .locked, false),
            ("0", .wrongCredentials, false), ("80090308", .wrongCredentials, false),
        ] as [(String, LoginFailure, Bool)]
    )
    func `each code is a kind of failure`(code: String, failure: LoginFailure, mayChange: Bool) {
        let reply = LDAPReply(code: 49, message: "LdapErr: comment: AcceptSecurityContext error, data \(code), v4563")
        let problem = BindProblem.problem(reply, isDisabled: false)
        #expect(problem?.failure == failure)
        #expect(problem?.text.contains(code) == true)
        #expect(problem?.change == (mayChange ? .activeDirectory : nil))
    }

    @Test(
        arguments: [
            (49, .wrongCredentials), (48, .wrongCredentials), (32, .wrongCredentials), (53, .disabled), (19, .locked),
            (50, .permissionDenied), (1, .unavailable), (2, .unavailable), (8, .unavailable), (10, .unavailable),
            (13, .unavailable), (14, .unavailable), (34, .unavailable), (80, .unavailable), (-1, .unavailable),
            (256, .unavailable), (0, nil),
        ] as [(Int32, LoginFailure?)]
    )
    func `each result code is a kind of failure`(code: Int32, failure: LoginFailure?) {
        #expect(BindProblem.problem(LDAPReply(code: code, message: ""), isDisabled: false)?.failure == failure)
    }

    @Test(
        arguments: [
            ("0000052D: AtrErr: DSID-03190FD6, #1:", 0x52D), ("00000056: error", 0x56), ("00000775: x", 0x775),
            ("52D: x", nil), ("0000052D", nil), ("0000052G: x", nil), ("00000052D: x", nil), ("", nil),
        ] as [(String, UInt32?)]
    )
    func `the code of a refused change is read`(message: String, code: UInt32?) {
        #expect(BindProblem.changeCode(message) == code)
    }

    @Test func `a wrong old password and a locked account are no rules for the new password`() {
        func problem(_ message: String) -> BindProblem? { .ofChange(LDAPReply(code: 19, message: message)) }
        #expect(problem("00000056: ...")?.failure == .wrongCredentials)
        #expect(problem("00000775: ...")?.failure == .locked)
        #expect(problem("0000052D: ...") == nil)
        #expect(problem("") == nil)
    }

    // MARK: Values

    @Test(arguments: ["", "a", "Pässword", "漢字", "😀🏳️‍🌈", "\u{FFFF}\u{10000}\u{10FFFF}", "quote\"", "\u{D7FF}\u{E000}"])
    func `passwords are in quotes and in UTF-16`(password: String) throws {
        let quoted = try #require(QuotedPassword.make(Secret(utf8: password)))
        let bytes = quoted.withBytes { span in span.indices.map { span[$0] } }
        #expect(bytes == SambaServer.unicodePassword(password))
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func `passwords that are not UTF-8 have no value`(bytes: [UInt8]) {
        let secret = Secret(capacity: bytes.count) { output in for byte in bytes { output.append(byte) } }
        #expect(QuotedPassword.make(secret) == nil)
    }

    @Test func `the security identifier of a group has the domain of the user`() {
        // S-1-5-21-1-2-3-1104, and the group 513.
        let domain: [UInt8] = [1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]
        #expect(SecurityIdentifier.group(513, inDomainOf: domain + [0x50, 4, 0, 0]) == domain + [1, 2, 0, 0])
        #expect(SecurityIdentifier.group(.max, inDomainOf: domain + [0, 0, 0, 0])?.suffix(4) == [255, 255, 255, 255])
        for count in 0..<40 where count != 28 {
            let malformed = [UInt8]((domain + [UInt8](repeating: 0, count: 16)).prefix(count))
            #expect(SecurityIdentifier.group(513, inDomainOf: malformed) == nil, "\(count)")
        }
    }
}
#endif
