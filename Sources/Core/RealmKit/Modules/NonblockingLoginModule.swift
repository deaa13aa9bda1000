// SPDX-License-Identifier: Apache-2.0

/// A login module that never blocks its thread: it only suspends its task to wait.
///
/// The engine starts its calls on the thread of the login, and continues them on the worker thread that has resumed them,
/// which saves changes of threads. Until the module suspends for the first time, its deadline is not enforced, and a worker
/// thread makes no other call before the module suspends again. A module that may block, for example in a call of a C
/// library, or that computes for long, must not conform.
package protocol NonblockingLoginModule: LoginModule {}
