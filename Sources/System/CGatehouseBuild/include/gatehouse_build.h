// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Returns the commit of the source, as the build was told it; NULL if it was not.
const char *gatehouse_build_commit(void);
