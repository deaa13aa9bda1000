// SPDX-License-Identifier: Apache-2.0

#if PAM
internal import CPAM
internal import Glibc
internal import PAMMessages

/// The conversation of one login: passes prompts of modules to the server, and its answers to the modules.
final class HelperConversation {
    /// The function of PAM that is running.
    var stage = PAMStage.start
    /// True if the server has gone, or has sent a message that is not valid.
    private(set) var isBroken = false
    private let channel: HelperChannel
    private let request: UInt64
    private var rounds = 0
    private var texts = 0

    init(_ channel: HelperChannel, request: UInt64) { (self.channel, self.request) = (channel, request) }

    /// Shows a text to the user; more than the maximum number are left out.
    func show(_ text: [UInt8]) {
        texts += 1
        guard texts <= PAMMessage.maximumRounds, !isBroken else { return }
        var writer = MessageWriter(.text, request: request)
        writer.append(text: text)
        do throws(ChannelFault) { try channel.send(writer) } catch { isBroken = true }
    }

    /// Passes prompts to the server; false if the user has not answered, or the modules ask too often.
    ///
    /// `use` gets the body with the answers, which is wiped afterwards, and the range of each answer; nil for none.
    func ask(_ prompts: [PAMPrompt], use: ([UInt8], [Range<Int>?]) -> Bool) -> Bool {
        rounds += 1
        guard rounds <= PAMMessage.maximumRounds, !isBroken else { return false }
        var writer = MessageWriter(.prompts, request: request)
        writer.append(stage.rawValue)
        for prompt in prompts {
            writer.append(prompt.isShown ? 1 : 0)
            writer.append(text: prompt.text)
        }
        do throws(ChannelFault) {
            try channel.send(writer)
            guard var body = try channel.receive() else { throw .broken }
            defer { for index in body.indices { body[index] = 0 } }
            var reader = MessageReader(body[...])
            guard reader.kind() == .answers, reader.request() == request else { throw .broken }
            var ranges: [Range<Int>?] = []
            for _ in prompts {
                guard let isAnswered = reader.byte(), let text = reader.text(), !text.contains(0) else { throw .broken }
                ranges.append(isAnswered == 1 ? text.startIndex..<text.endIndex : nil)
            }
            guard reader.isAtEnd else { throw .broken }
            return use(body, ranges)
        } catch {
            isBroken = true
            return false
        }
    }
}

/// The conversation function of libpam; the modules free the answers.
func converse(
    count: Int32,
    messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
    answers: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    guard count > 0, count <= PAMMessage.maximumPrompts, let messages = unsafe messages,
        let answers = unsafe answers, let context = unsafe context
    else { return Int32(PAM_CONV_ERR) }
    let conversation = unsafe Unmanaged<HelperConversation>.fromOpaque(context).takeUnretainedValue()
    guard
        let responses = unsafe calloc(Int(count), MemoryLayout<pam_response>.stride)?
            .bindMemory(to: pam_response.self, capacity: Int(count))
    else { return Int32(PAM_BUF_ERR) }
    var prompts: [PAMPrompt] = []
    var places: [Int] = []
    for index in 0..<Int(count) {
        guard let message = unsafe messages[index] else { continue }
        let text = unsafe message.pointee.msg.map { unsafe Array(String(cString: $0).utf8.prefix(1024)) } ?? []
        switch unsafe message.pointee.msg_style {
        case Int32(PAM_PROMPT_ECHO_ON), Int32(PAM_PROMPT_ECHO_OFF):
            prompts.append(PAMPrompt(isShown: unsafe message.pointee.msg_style == PAM_PROMPT_ECHO_ON, text: text))
            places.append(index)
        case Int32(PAM_TEXT_INFO), Int32(PAM_ERROR_MSG): conversation.show(text)
        default:
            unsafe free(responses)
            return Int32(PAM_CONV_ERR)
        }
    }
    let isAnswered =
        prompts.isEmpty
        || conversation.ask(prompts) { body, ranges in
            guard !ranges.contains(nil) else { return false }
            for (place, range) in zip(places, ranges) {
                guard let range, let copy = unsafe calloc(range.count + 1, 1) else { return false }
                for (offset, index) in range.enumerated() {
                    unsafe copy.storeBytes(of: body[index], toByteOffset: offset, as: UInt8.self)
                }
                unsafe responses[place].resp = copy.assumingMemoryBound(to: CChar.self)
            }
            return true
        }
    guard isAnswered else {
        for index in 0..<Int(count) {
            guard let copy = unsafe responses[index].resp else { continue }
            unsafe explicit_bzero(copy, strlen(copy))
            unsafe free(copy)
        }
        unsafe free(responses)
        return Int32(PAM_CONV_ERR)
    }
    unsafe answers.pointee = responses
    return Int32(PAM_SUCCESS)
}
#endif
