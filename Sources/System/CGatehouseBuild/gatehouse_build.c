// SPDX-License-Identifier: Apache-2.0

#include "gatehouse_build.h"

#include <stddef.h>

// Swift has no macros with values, so this one is read here. Package.swift takes it from the environment.
const char *gatehouse_build_commit(void) {
#ifdef GATEHOUSE_COMMIT
    return GATEHOUSE_COMMIT;
#else
    return NULL;
#endif
}
