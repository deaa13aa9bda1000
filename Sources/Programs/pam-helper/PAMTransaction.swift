// SPDX-License-Identifier: Apache-2.0

#if PAM
internal import CPAM
internal import Glibc
internal import PAMMessages

/// One login by libpam.
@safe
final class PAMTransaction {
    private let conversation: HelperConversation
    private var handle: OpaquePointer?

    init(_ conversation: HelperConversation) {
        self.conversation = conversation
    }

    /// Authenticates a user and checks the account, or changes an expired password.
    ///
    /// - Returns: A code of PAM.
    func run(
        _ task: PAMTask,
        service: String,
        user: String,
        host: String,
        terminal: String,
        folder: String
    ) -> Int32 {
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

    /// Returns the text of a code.
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
