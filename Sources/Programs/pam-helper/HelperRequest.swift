// SPDX-License-Identifier: Apache-2.0

#if PAM
internal import CPAM
internal import Glibc
internal import PAMMessages

struct HelperRequest {
    private let body: [UInt8]
    private let channel: HelperChannel

    init(_ body: [UInt8], channel: HelperChannel) { (self.body, self.channel) = (body, channel) }

    func answer() throws(ChannelFault) {
        var reader = MessageReader(body[...])
        guard let kind = reader.kind(), let number = reader.request() else { throw .broken }
        switch kind {
        case .authenticate:
            guard let task = reader.byte().flatMap(PAMTask.init) else { throw .broken }
            var texts: [String] = []
            for _ in 0..<5 {
                guard let bytes = reader.text(), !bytes.contains(0),
                    let text = String(validating: bytes, as: UTF8.self)
                else { throw .broken }
                texts.append(text)
            }
            guard reader.isAtEnd else { throw .broken }
            try run(task, texts, number: number)
        case .findUser:
            guard let bytes = reader.text(), !bytes.contains(0), reader.isAtEnd,
                let user = String(validating: bytes, as: UTF8.self)
            else { throw .broken }
            let (answer, found) = SystemUser.find(user)
            var writer = MessageWriter(.user, request: number)
            writer.append(answer.rawValue)
            found.append(to: &writer)
            try channel.send(writer)
        case .answers, .prompts, .text, .result, .user: throw .broken
        }
    }

    private func run(_ task: PAMTask, _ texts: [String], number: UInt64) throws(ChannelFault) {
        // Otherwise the server's user could load modules of its own into a process with more rights.
        if channel.isSetGroup, !texts[4].utf8.isEmpty {
            throw .usage("confdir cannot be used with a helper program that is setgid")
        }
        let conversation = HelperConversation(channel, request: number)
        let transaction = PAMTransaction(conversation)
        let code = transaction.run(
            task,
            service: texts[0],
            user: texts[1],
            host: texts[2],
            terminal: texts[3],
            folder: texts[4]
        )
        if conversation.isBroken { throw .broken }
        let user = transaction.user
        var writer = MessageWriter(.result, request: number)
        var systemUser = SystemUser()
        var (result, text) = (code, transaction.text(of: code))
        // A user whose password has expired may change it after the stack has accepted the login.
        let isUser = code == PAM_SUCCESS || code == PAM_NEW_AUTHTOK_REQD && conversation.stage == .account
        if isUser, user.count > PAMMessage.maximumText {
            result = Int32(PAM_SYSTEM_ERR)
            text = Array("accepted, but the user's name is too long".utf8)
        } else if isUser, let name = String(validating: user, as: UTF8.self) {
            // The server does not accept a name that is not UTF-8.
            let (answer, found) = SystemUser.find(name)
            systemUser = found
            // Without its groups a user could have too few rights, or too many where a rule denies a group.
            if answer == .unavailable {
                result = Int32(PAM_AUTHINFO_UNAVAIL)
                text = Array("accepted, but the system cannot look up the user's groups".utf8)
            }
        }
        writer.append(conversation.stage.rawValue)
        writer.append(number: result)
        writer.append(text: text.prefix(256))
        writer.append(text: user.count > PAMMessage.maximumText ? [] : user)
        systemUser.append(to: &writer)
        transaction.end(code)
        try channel.send(writer)
    }
}

/// One login by libpam.
@safe
final class PAMTransaction {
    private let conversation: HelperConversation
    private var handle: OpaquePointer?

    init(_ conversation: HelperConversation) { self.conversation = conversation }

    /// Authenticates a user and checks the account, or changes an expired password; returns a code of PAM.
    func run(_ task: PAMTask, service: String, user: String, host: String, terminal: String, folder: String) -> Int32 {
        var callback = unsafe pam_conv(conv: converse, appdata_ptr: Unmanaged.passUnretained(conversation).toOpaque())
        var handle: OpaquePointer?
        var code =
            unsafe folder.utf8.isEmpty
            ? pam_start(service, user, &callback, &handle)
            : pam_start_confdir(service, user, &callback, folder, &handle)
        unsafe self.handle = handle
        guard code == PAM_SUCCESS, let handle = unsafe handle else { return code }
        code = unsafe gatehouse_pam_set_no_delay(handle)
        if code == PAM_SUCCESS, !host.utf8.isEmpty { code = unsafe pam_set_item(handle, PAM_RHOST, host) }
        if code == PAM_SUCCESS { code = unsafe pam_set_item(handle, PAM_TTY, terminal) }
        guard code == PAM_SUCCESS else { return code }
        switch task {
        case .changePassword:
            conversation.stage = .changePassword
            return unsafe pam_chauthtok(handle, Int32(PAM_CHANGE_EXPIRED_AUTHTOK))
        case .authenticate, .authenticateLocked:
            conversation.stage = .authenticate
            code = unsafe pam_authenticate(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
            guard code == PAM_SUCCESS else { return code }
            guard task == .authenticate else { return Int32(PAM_AUTH_ERR) }
            conversation.stage = .account
            return unsafe pam_acct_mgmt(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
        }
    }

    /// The user's name as PAM has it; modules may have changed it to one that is too long or not UTF-8.
    var user: [UInt8] {
        var item: UnsafeRawPointer?
        guard let handle = unsafe handle, unsafe pam_get_item(handle, PAM_USER, &item) == PAM_SUCCESS,
            let name = unsafe item
        else { return [] }
        let text = unsafe name.assumingMemoryBound(to: CChar.self)
        return unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }

    func text(of code: Int32) -> [UInt8] {
        guard let handle = unsafe handle, let text = unsafe pam_strerror(handle, code) else { return [] }
        return Array(unsafe String(cString: text).utf8)
    }

    /// Ends the transaction; modules wipe their data.
    func end(_ code: Int32) {
        guard let handle = unsafe handle else { return }
        _ = unsafe pam_end(handle, code)
        unsafe self.handle = nil
    }
}
#endif
