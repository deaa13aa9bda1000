// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
package import RealmKit

/// The person's terminal, whatever standard input and output are.
@safe package struct Terminal: ~Copyable {
    /// Longer lines are refused.
    package static let maximumLine = 4096

    private let descriptor: Int32

    /// Opens it; nil if the process has none.
    package init?() {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    package func show(_ text: String) {
        Output.writeBytes(Array(Printable.text(text).utf8), to: descriptor)
    }

    /// Asks for a line and reads it without showing it.
    ///
    /// The question comes when nothing is shown any more: who answers at once, or is a program, is not overheard.
    /// The terminal's own editing and its signals are off meanwhile, so that no interrupt can leave it silent; an interrupt
    /// that was typed is delivered when it is as it was before.
    ///
    /// - Parameter prompt: The question; empty if it has been asked.
    /// - Returns: The line; nil if it was ended by an end of file, or is too long.
    package func readSecret(_ prompt: String = "") -> Secret? {
        var typed: Int32 = 0
        let secret = readSilently(prompt, &typed)
        // To the process: the thread that reads does not take signals.
        if typed != 0 { kill(getpid(), typed) }
        return secret
    }

    private func readSilently(_ prompt: String, _ typedSignal: inout Int32) -> Secret? {
        var before = termios()
        guard unsafe tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        let signals = TerminalGuard(descriptor, before)
        defer {
            unsafe tcsetattr(descriptor, TCSAFLUSH, &before)
            signals.release()
            show("\n")
        }
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        show(prompt)
        var line = LineBuffer(capacity: Self.maximumLine)
        while let byte = nextByte() {
            switch byte {
            case 0x0A, 0x0D: return line.secret()
            case 0x03, 0x1C:
                typedSignal = byte == 0x03 ? SIGINT : SIGQUIT
                return nil
            case 0x04: return line.isEmpty ? nil : line.secret()
            case 0x08, 0x7F: line.removeLastCharacter()
            case 0x15: line.clear()
            // A stop would leave the shell without echo; it can wait until the line is there.
            case 0x1A: continue
            default: if !line.append(byte) { return nil }
            }
        }
        return nil
    }

    private func nextByte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(descriptor, &byte, 1)
            if count == 1 { return byte }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }
}
