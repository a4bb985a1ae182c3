// SPDX-License-Identifier: Apache-2.0
// apply_bench MODEL HEIGHT WIDTH: applies a model to one image in memory, once for every line of
// standard input, and answers with the seconds it took. bench/python_overhead.py takes turns
// between it and Python.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "segcal/segcal.h"

namespace {

// Numbers that repeat after a million: what matters is that they are there.
std::vector<float> MakeLogits(int64_t size) {
  std::vector<float> logits(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i)
    logits[static_cast<size_t>(i)] = static_cast<float>(i * 7919 % 1'000'003) / 1e5f - 5.0f;
  return logits;
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const segcal::Model model = segcal::Model::Load(argv[1]);
  const int64_t height = std::atoll(argv[2]);
  const int64_t width = std::atoll(argv[3]);
  const auto num_classes = static_cast<int64_t>(model.classes().size());
  const std::vector<int64_t> shape = {num_classes, height, width};
  const std::vector<float> logits = MakeLogits(num_classes * height * width);
  std::vector<float> probabilities(logits.size());
  for (std::string line; std::getline(std::cin, line);) {
    const double began = Seconds();
    model.Apply(segcal::LogitsView{segcal::MakeView(logits.data(), shape)},
                {.probabilities = segcal::MakeSpan(probabilities.data(), shape)});
    std::printf("%.9f\n", Seconds() - began);
    std::fflush(stdout);
  }
}
