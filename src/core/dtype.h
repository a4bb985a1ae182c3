// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "segcal/dtype.h"  // IWYU pragma: export
