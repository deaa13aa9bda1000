// SPDX-License-Identifier: Apache-2.0

internal import CHelperSpawn
internal import Files
internal import Glibc

/// A program to start as a helper, with its limits.
package struct HelperProgram: Sendable {
    /// The absolute path.
    let path: String
    /// The arguments after the name, without secrets, because all users of the machine can see them.
    package var arguments: [String]
    var folder = "/"
    /// The limit for the memory that the helper can write to, in bytes (RLIMIT_DATA); 0 for no limit.
    package var memory: UInt64 = 0
    /// The user that the helper runs as; nil for the user of this program.
    package var account: HelperAccount?
    /// True if the helper cannot gain rights by setuid and setgid programs.
    package var forbidsNewPrivileges = true

    /// The whole environment of a helper.
    private static let environment = [
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME=/", "SHELL=/bin/sh", "LANG=C.UTF-8",
    ]
    /// The maximum number of open descriptors of a helper.
    private static let openFiles: UInt64 = 256

    package init(_ path: String, arguments: [String] = []) {
        (self.path, self.arguments) = (path, arguments)
    }

    /// Returns the absolute path, with links resolved, of a program which only the administrator can change
    /// (`FileTrust`).
    package static func trustedPath(_ path: String) throws(HelperFault) -> String {
        let file = try SystemError.mapping(FilePath.resolve(path)) { HelperFault.system(path, number: $0.number) }
        let status = try SystemError.mapping(FileStatus(of: file)) { HelperFault.system(file, number: $0.number) }
        guard status.isRegular else { throw HelperFault(.cannotStart, "\(file): is not a regular file") }
        guard status.mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0 else {
            throw HelperFault(.cannotStart, "\(file): is not executable; chmod +x \(file)")
        }
        if let finding = FileTrust.error(path, as: .program) { throw HelperFault(.cannotStart, finding.text) }
        return file
    }

    /// Starts the program with descriptors from number 0 on; the result is the process and its pidfd.
    func spawn(_ descriptors: [Descriptor]) throws(HelperFault) -> (process: pid_t, pidfd: Descriptor) {
        guard !([path] + arguments).contains(where: { $0.utf8.contains(0) }) else {
            throw HelperFault(.cannotStart, "\(path): an argument contains the character NUL")
        }
        let arguments = CStrings([path] + arguments)
        let environment = CStrings(Self.environment)
        let numbers = descriptors.map(\.number)
        let groups = account?.groups ?? []
        var result = gatehouse_spawn_result()
        var error: Int32 = 0
        unsafe path.withCString { path in
            unsafe folder.withCString { folder in
                unsafe numbers.withUnsafeBufferPointer { numbers in
                    unsafe groups.withUnsafeBufferPointer { groups in
                        var request = unsafe gatehouse_spawn_request()
                        unsafe request.program = path
                        unsafe request.arguments = UnsafePointer(arguments.pointers)
                        unsafe request.environment = UnsafePointer(environment.pointers)
                        unsafe request.folder = folder
                        unsafe request.descriptors = numbers.baseAddress
                        unsafe request.descriptor_count = numbers.count
                        unsafe request.data_bytes = memory
                        unsafe request.open_files = Self.openFiles
                        if let account, account.isOther {
                            unsafe request.changes_user = true
                            unsafe request.user = account.user
                            unsafe request.group = account.group
                            unsafe request.groups = groups.baseAddress
                            unsafe request.group_count = groups.count
                        }
                        unsafe request.no_new_privileges = forbidsNewPrivileges
                        unsafe error = gatehouse_spawn(&request, &result)
                    }
                }
            }
        }
        // The descriptors are open until the child has its copies.
        withExtendedLifetime(descriptors) {}
        extendLifetime(arguments)
        extendLifetime(environment)
        guard error == 0 else { throw .system("\(self.path): \(Self.name(of: result.failed_step))", number: error) }
        return (result.process, Descriptor(result.descriptor))
    }

    private static func name(of step: gatehouse_spawn_step) -> String {
        switch step {
        case GATEHOUSE_SPAWN_SESSION: "cannot create a session"
        case GATEHOUSE_SPAWN_DESCRIPTORS: "cannot pass the descriptors"
        case GATEHOUSE_SPAWN_LIMITS: "cannot set the limits"
        case GATEHOUSE_SPAWN_USER: "cannot change the user"
        case GATEHOUSE_SPAWN_PRIVILEGES: "cannot drop privileges"
        case GATEHOUSE_SPAWN_FOLDER: "cannot change to the working folder"
        case GATEHOUSE_SPAWN_EXECUTE: "cannot be executed"
        default: "cannot start a process"
        }
    }
}

/// A user of the system that helpers run as, with the groups of this user.
package struct HelperAccount: Sendable, Hashable {
    package let name: String
    let user: uid_t
    let group: gid_t
    let groups: [gid_t]

    /// Finds a user of the system, to which this program must be able to change.
    package init(_ name: String) throws(HelperFault) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        let status = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else {
            throw HelperFault(.unusableAccount, "the system has no user \(name)")
        }
        self.name = name
        (user, group) = unsafe (entry.pw_uid, entry.pw_gid)
        var count: Int32 = 256
        var groups = [gid_t](repeating: 0, count: Int(count))
        guard unsafe getgrouplist(name, group, &groups, &count) >= 0 else {
            throw HelperFault(.unusableAccount, "the user \(name) has more than 256 groups")
        }
        self.groups = Array(groups.prefix(Int(count)))
        guard geteuid() == 0 || geteuid() == user else {
            let problem = "only a program that runs as root can start a helper as another user, such as \(name)"
            throw HelperFault(.unusableAccount, problem)
        }
    }

    /// True if the helper must change its user.
    var isOther: Bool { geteuid() == 0 && user != 0 }
    package static var isRoot: Bool { geteuid() == 0 }
}

/// The memory of this process, which contains passwords and keys.
package enum ProcessMemory {
    /// Prevents other processes of the same user from reading the memory.
    ///
    /// They can neither attach to the process (ptrace(2)) nor open its `/proc/PID/mem` and `environ`, and the system
    /// writes no core file. Root can do both. The programs that this process starts are not affected.
    package static func protect() { gatehouse_protect_memory() }
}

/// A list of C strings that ends with a null pointer.
@safe
private struct CStrings: ~Copyable {
    let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() {
            unsafe (pointers + index).initialize(to: UnsafePointer(strdup(text)))
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(UnsafeMutableRawPointer(mutating: pointers[index])) }
        unsafe pointers.deallocate()
    }
}
