// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/apply.h"

namespace segcal {

std::string ToJson(const ApplyResult& result) {
  return DumpJson({{"pipeline", result.pipeline},
                   {"voxels", result.voxels},
                   {"renormalised", result.renormalised},
                   {"files", result.files},
                   {"skipped", result.skipped},
                   {"warnings", result.warnings}});
}

}  // namespace segcal
