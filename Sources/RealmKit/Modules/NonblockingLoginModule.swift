// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A login module that never blocks its thread: it only suspends its task to wait.
///
/// The engine starts its calls on the thread of the login, which saves a change of threads. Until the module suspends for
/// the first time, its deadline is not enforced, so a module that may block, for example in a call of a C library, must
/// not conform.
package protocol NonblockingLoginModule: LoginModule {}
