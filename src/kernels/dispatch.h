// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace segcal {

// Kernels are compiled once per instruction set ("target"); the best one the machine has is chosen
// at the first call of any kernel. The environment variable SEGCAL_TARGET, read once at that
// moment, pins another one by name, for example SSE4: sums may differ in their last bits between
// targets.

// Names of the compiled targets this machine can run, best first.
std::vector<std::string> SupportedTargets();

// The target kernels run on. An Error if SEGCAL_TARGET names none of SupportedTargets(): kernels
// cannot fail and use the best one then, so a program calls this once before its work.
std::string ActiveTarget();

// All kernels use target `name` from now on; an Error if it is not one of SupportedTargets(). Not
// to be called while kernels run.
void PinTarget(const std::string& name);

namespace internal {

// Applies SEGCAL_TARGET at its first call.
void EnsureTarget() noexcept;

}  // namespace internal

// Calls the active target's version of an exported (HWY_EXPORT) function.
#define SEGCAL_DISPATCH(function) \
  (::segcal::internal::EnsureTarget(), HWY_DYNAMIC_DISPATCH(function))

}  // namespace segcal
