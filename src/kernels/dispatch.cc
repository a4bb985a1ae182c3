// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include <cstdlib>

#include "core/throw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dispatch.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

const char* ThisTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {
namespace {

HWY_EXPORT(ThisTarget);

// Bits of the targets that are compiled and that the machine has, before any pinning.
int64_t UsableTargets() noexcept {
  static const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

// Highway keeps one index for all dispatch tables; setting the list of targets resets it to
// "undecided", and the next dispatch takes the best of the new list. Deciding here keeps the choice
// on the pinning thread.
void UseOnly(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(target);
}

std::string JoinNames(const std::vector<std::string>& targets) {
  std::string names;
  for (const std::string& name : targets) names += (names.empty() ? "" : ", ") + name;
  return names;
}

int64_t FindTarget(const std::string& name, const char* source) {
  for (int64_t rest = UsableTargets(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    if (name == hwy::TargetName(target)) return target;
  }
  Throw(ErrorCode::kInvalidArgument,
        "{}: \"{}\" is not an instruction set of this program and machine, which are {}",
        source,
        name,
        JoinNames(SupportedTargets()));
}

// The message of what is wrong with SEGCAL_TARGET, empty if nothing. Pins at the first call.
const std::string& EnvironmentError() noexcept {
  static const std::string error = [] {
    const char* name = std::getenv("SEGCAL_TARGET");
    if (name == nullptr || *name == '\0') return std::string();
    try {
      UseOnly(FindTarget(name, "SEGCAL_TARGET"));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  }();
  return error;
}

}  // namespace

namespace internal {

void EnsureTarget() noexcept {
  UsableTargets();
  EnvironmentError();
}

}  // namespace internal

std::vector<std::string> SupportedTargets() {
  std::vector<std::string> names;
  for (int64_t rest = UsableTargets(); rest != 0; rest &= rest - 1) {
    names.emplace_back(hwy::TargetName(rest & -rest));
  }
  return names;
}

std::string ActiveTarget() {
  internal::EnsureTarget();
  if (!EnvironmentError().empty()) throw Error(ErrorCode::kInvalidArgument, EnvironmentError());
  return HWY_DYNAMIC_DISPATCH(ThisTarget)();
}

void PinTarget(const std::string& name) {
  internal::EnsureTarget();
  UseOnly(FindTarget(name, "target"));
}

}  // namespace segcal
#endif
