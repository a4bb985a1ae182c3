// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what a shared library shows; everything else stays hidden in it.
#define SEGCAL_EXPORT __attribute__((visibility("default")))
