// SPDX-License-Identifier: Apache-2.0
#include "results/properties_json.h"

#include "core/json.h"

namespace segcal {

Json PropertiesToJson(const Properties& properties) {
  return {{"translation_invariant", properties.translation_invariant},
          {"preserves", Name(properties.preserves)}};
}

Properties ReadProperties(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  Properties properties;
  properties.translation_invariant = object.Bool("translation_invariant");
  properties.preserves = object.Parse("preserves", ParsePreserves);
  object.Finish();
  return properties;
}

}  // namespace segcal
