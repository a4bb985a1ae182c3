// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/text_hash.h"
#include "parts/part_state.h"
#include "segcal/error.h"
#include "segcal/parts.h"

namespace segcal {
namespace {

constexpr size_t kMaxClasses = 64;

// With the first line that such a body needs: a fuzzer finds no checksums.
std::string WithFirstLine(const std::string& body) {
  const size_t end = body.find("\n}\n");
  const size_t text = end == std::string::npos ? body.size() : end + 3;
  return fmt::format("segcal part 1 {} {} {:016x}\n", body.size(), text, HashText(body)) + body;
}

bool IsSmall(const PartState& part) {
  const Json& plan = part.state().plan;
  const auto classes = plan.find("classes");
  const auto members = plan.find("members");
  return (classes == plan.end() || classes->size() <= kMaxClasses) &&
         (members == plan.end() || !members->is_number() || *members <= 64);
}

void Merge(const PartState& part) {
  switch (part.job()) {
    case PartJob::kEvaluate:
      // Its sums add up to nonsense wherever bytes are made up: their checksum keeps them.
      break;
    case PartJob::kApply:
      ToJson(MergeApply({part}));
      break;
    case PartJob::kInspect:
      ToJson(MergeInspect({part}));
      break;
  }
}

// A part that loads reads back what it writes, and merges or says why not.
void Check(const std::string& bytes) {
  try {
    const PartState part = PartState::FromBytes(bytes);
    const std::string written = part.ToBytes();
    if (PartState::FromBytes(written).ToBytes() != written) std::abort();
    part.families();
    if (IsSmall(part)) Merge(part);
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace segcal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  segcal::Check(bytes);
  segcal::Check(segcal::WithFirstLine(bytes));
  return 0;
}
