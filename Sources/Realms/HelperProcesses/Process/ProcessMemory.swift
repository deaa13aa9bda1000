// SPDX-License-Identifier: Apache-2.0

internal import CHelperSpawn

/// The memory of this process, which contains passwords and keys.
package enum ProcessMemory {
    /// Prevents other processes of the same user from reading the memory.
    ///
    /// They can neither attach to the process (ptrace(2)) nor open its `/proc/PID/mem` and `environ`, and the system
    /// writes no core file. Root can do both. The programs that this process starts are not affected.
    package static func protect() { gatehouse_protect_memory() }
}
