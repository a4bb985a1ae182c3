// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/options.h"
#include "train/losses/batch.h"

namespace segcal::train {

// A loss of a batch, a number whose gradient torch knows; docs/methods/losses.md has the formulas.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual Tensor Compute(const LossBatch& batch) const = 0;
};

// One loss: a name in list.cc, and a file whose last lines are its descriptor.
struct LossInfo {
  const char* name;
  const char* summary;
  const char* reference;  // key in docs/references.md
  OptionMap (*default_options)();
  std::unique_ptr<Loss> (*make)(const OptionMap& options);
};

// For descriptors: a loss that is made of its options.
template <class Method, class Options>
std::unique_ptr<Loss> MakeLossWith(const OptionMap& options) {
  return std::make_unique<Method>(ParseOptions<Options>(Method::kName, options));
}

// All losses, in the order of list.cc.
const std::vector<const LossInfo*>& Losses();

// The loss of that name with these options; wrong ones are an Error that names the right ones.
std::unique_ptr<Loss> MakeLoss(const std::string& name, const OptionMap& options = {});

}  // namespace segcal::train
