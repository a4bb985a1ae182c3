// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "page/explorer.h"

namespace segcal {
namespace {

// Cases of the first repeat by rising NLL of a pipeline; those without one are last.
std::vector<size_t> CasesByLoss(const PipelineMetrics& pipeline) {
  std::vector<std::pair<double, size_t>> losses;
  for (size_t c = 0; c < pipeline.cases.size(); ++c) {
    const double loss = FindValue(pipeline.cases[c].metrics, "nll");
    losses.emplace_back(std::isfinite(loss) ? loss : INFINITY, c);
  }
  std::sort(losses.begin(), losses.end());
  std::vector<size_t> order;
  order.reserve(losses.size());
  for (const auto& [loss, c] : losses) order.push_back(c);
  return order;
}

// The case in which some pipeline changes most; none where no class changes.
std::vector<size_t> MostFlipped(const EvaluateResult& result) {
  double most = 0.0;
  std::vector<size_t> found;
  for (const PipelineMetrics& pipeline : result.pipelines) {
    for (size_t c = 0; c < pipeline.cases.size(); ++c) {
      const double flips = FindValue(pipeline.cases[c].metrics, "flip_rate");
      if (flips > most) {
        most = flips;
        found = {c};
      }
    }
  }
  return found;
}

class CaseChoice {
 public:
  CaseChoice(const std::vector<CaseMetrics>& cases, size_t most) : cases_(cases), most_(most) {}

  void Add(size_t index, const char* why) {
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i] != index) continue;
      if (*why != '\0') chosen_[i].why += (chosen_[i].why.empty() ? "" : ", ") + std::string(why);
      return;
    }
    if (taken_.size() == most_) return;
    taken_.push_back(index);
    chosen_.push_back({cases_[index].id, why});
  }
  size_t size() const noexcept { return taken_.size(); }
  std::vector<ChosenCase> Take() && { return std::move(chosen_); }

 private:
  const std::vector<CaseMetrics>& cases_;
  size_t most_;
  std::vector<size_t> taken_;
  std::vector<ChosenCase> chosen_;
};

}  // namespace

std::vector<ChosenCase> ChooseCases(const StudyView& view, int64_t count) {
  const EvaluateResult& result = view.first_result();
  const PipelineMetrics& pipeline = result.pipelines[view.chosen()];
  const std::vector<size_t> order = CasesByLoss(pipeline);
  if (order.empty() || count <= 0) return {};
  const auto wanted = std::min(static_cast<size_t>(count), order.size());
  CaseChoice choice(pipeline.cases, wanted);
  choice.Add(order[(order.size() - 1) / 2], "typical");
  choice.Add(order.front(), "best");
  choice.Add(order.back(), "worst");
  for (const size_t c : MostFlipped(result)) choice.Add(c, "most flipped");
  for (size_t i = 0; i < wanted; ++i)
    choice.Add(order[(2 * i + 1) * order.size() / (2 * wanted)], "");
  for (const size_t c : order) choice.Add(c, "");
  return std::move(choice).Take();
}

}  // namespace segcal
