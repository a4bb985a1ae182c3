// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "segcal/error.h"
#include "segcal/onnx.h"

namespace segcal {
namespace {

// Takes two classes, whatever the network is.
Model TwoClasses() {
  return Model::FromJson(
      R"json({"segcal_model": 1, "pipeline": "ts(z)", "classes": ["a", "b"], "input": "logits",
          "floor": -87.0, "properties": {"translation_invariant": true, "preserves": "order"},
          "parameters": {"beta": 0.5}, "fit": null})json");
}

// What a calibrator could be put behind can be read again, and another one put behind it.
void FuzzAppend(std::string_view bytes) {
  static const Model model = TwoClasses();
  const OnnxJoin join{.outputs = {"logits"}, .keep_outputs = true};
  std::string joined;
  try {
    joined = AppendToOnnx(model, bytes, join);
  } catch (const Error&) {
    return;
  }
  try {
    AppendToOnnx(model, joined, join, {.prefix = "second_of_a_kind_"});
  } catch (const Error&) {
    std::abort();
  }
}

}  // namespace
}  // namespace segcal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  segcal::FuzzAppend({reinterpret_cast<const char*>(data), size});
  return 0;
}
