// SPDX-License-Identifier: Apache-2.0
#pragma once
#if !__has_include(<argon2.h>)
#error "Gatehouse needs libargon2: apt-get install libargon2-dev"
#endif
#include <argon2.h>
