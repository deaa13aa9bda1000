// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PAMMessages

enum ChannelFault: Error {
    /// The program was not started by the server.
    case usage(String)
    /// The server has gone, or has sent a message that is not valid.
    case broken

    /// Writes the reason to the standard error, and returns the exit status.
    func report() -> Int32 {
        switch self {
        case .usage(let text):
            let line = Array("gatehouse-pam-helper: \(text)\n".utf8)
            _ = unsafe write(STDERR_FILENO, line, line.count)
            return 64
        case .broken: return 76
        }
    }
}

struct HelperChannel {
    private let descriptor: Int32
    private let process = getpid()
    /// True if the program is setgid: it then has rights that the server has not.
    let isSetGroup = getegid() != getgid()

    /// Moves the socket from descriptor 3 to another number, closed on exec, so that programs of modules do not have it.
    init() throws(ChannelFault) {
        var kind: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let status = unsafe getsockopt(PAMMessage.descriptor, SOL_SOCKET, SO_DOMAIN, &kind, &size)
        guard status == 0, kind == AF_UNIX, geteuid() == getuid() else {
            throw .usage("this program is started by gatehouse and authcheck only, and must not be setuid")
        }
        descriptor = fcntl(PAMMessage.descriptor, F_DUPFD_CLOEXEC, 64)
        guard descriptor >= 0 else { throw .broken }
        close(PAMMessage.descriptor)
    }

    /// Reads the body of the next message, which the caller wipes; nil if the server has closed the socket.
    func receive() throws(ChannelFault) -> [UInt8]? {
        var header: [UInt8] = [0, 0, 0, 0]
        guard try read(&header) else { return nil }
        guard let length = MessageReader.length(header[...]) else { throw .broken }
        var body = [UInt8](repeating: 0, count: length)
        guard try read(&body) else { throw .broken }
        return body
    }

    private func read(_ buffer: inout [UInt8]) throws(ChannelFault) -> Bool {
        var filled = 0
        let size = buffer.count
        while filled < size {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor, bytes.baseAddress?.advanced(by: filled), size - filled, 0)
            }
            if count > 0 {
                filled += count
            } else if count == 0, filled == 0 {
                return false
            } else if count == 0 || errno != EINTR {
                throw .broken
            }
        }
        return true
    }

    func send(_ message: MessageWriter) throws(ChannelFault) {
        // A module may have forked, and its child may have returned: only the process itself answers.
        guard getpid() == process else { _exit(70) }
        var message = message
        message.finish()
        var sent = 0
        while sent < message.bytes.count {
            let count = unsafe message.bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno != EINTR {
                throw .broken
            }
        }
    }
}

/// The state of the process that modules may change.
enum HelperState {
    private static let own = (geteuid(), getegid(), getuid(), getgid())
    private static let environment = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"), ("HOME", "/"), ("LANG", "C.UTF-8"),
    ]

    /// Sets signals, environment, working folder and mask for files as for the first request.
    static func reset() {
        _ = own
        for number in 1...Int32(64) where number != SIGKILL && number != SIGSTOP {
            _ = signal(number, SIG_DFL)
        }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        clearenv()
        for (name, value) in environment { unsafe setenv(name, value, 1) }
        _ = unsafe chdir("/")
        umask(0o077)
    }

    static func exitIfChanged() {
        if own != (geteuid(), getegid(), getuid(), getgid()) { exit(0) }
    }
}
