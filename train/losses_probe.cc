// SPDX-License-Identifier: Apache-2.0

// For tests: a list of losses and what they are of from standard input, as JSON; their values and
// gradients to standard output. tests/oracle/test_training_losses.py asks.
#include <iostream>
#include <iterator>

#include "core/json.h"
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

Tensor MakeTensor(const Json& array, at::ScalarType type) {
  const auto values = array.at("values").get<std::vector<double>>();
  const auto shape = array.at("shape").get<std::vector<int64_t>>();
  return torch::tensor(values, at::kDouble).to(type).view(shape);
}

Json Answer(const Json& question) {
  const bool is_double = question.at("double").get<bool>();
  Tensor logits = MakeTensor(question.at("logits"), is_double ? at::kDouble : at::kFloat);
  logits.requires_grad_();
  const Tensor labels = MakeTensor(question.at("labels"), at::kLong);
  const auto loss =
      MakeLoss(question.at("loss").get<std::string>(), question.at("options").get<OptionMap>());
  const LossBatch batch(logits, labels, question.at("weights").get<std::vector<double>>());
  const Tensor value = loss->Compute(batch);
  value.backward();
  const Tensor gradient = logits.grad().to(at::kDouble).contiguous();
  const auto* first = gradient.data_ptr<double>();
  return {{"value", value.item<double>()},
          {"gradient", std::vector<double>(first, first + gradient.numel())}};
}

}  // namespace
}  // namespace segcal::train

int main() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  segcal::Json answers = segcal::Json::array();
  for (const segcal::Json& question : segcal::ParseJson(text, "questions"))
    answers.push_back(segcal::train::Answer(question));
  std::cout << answers.dump();
}
