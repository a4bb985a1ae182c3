// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "calibrators/list.h"
#include "core/throw.h"
#include "pipeline/spec.h"
#include "segcal/fit.h"
#include "segcal/methods.h"

namespace segcal {
namespace {

std::vector<std::string> Baselines() { return {"none(z0)", "none(p)", "none(z)"}; }

// The rows of the published table, in its order (docs/references.md, Main).
std::vector<std::string> Paper() {
  std::vector<std::string> pipelines = Baselines();
  for (const char* row : {"ms(z)",
                          "dc(z)",
                          "ms_c(z)",
                          "lts_raw(z)",
                          "lts(z)",
                          "cdc(p)",
                          "cms_ap(p)",
                          "cms_op(p)",
                          "cdc(z)",
                          "cms_ap(z)",
                          "cms_op(z)",
                          "ts(p)",
                          "ts(z)",
                          "ets(p)",
                          "ets(z)",
                          "dc(p)"})
    pipelines.emplace_back(row);
  return pipelines;
}

std::vector<std::string> Fast() {
  std::vector<std::string> pipelines = Baselines();
  for (const char* row : {"ts(p)", "ts(z)", "ets(p)", "ets(z)"}) pipelines.emplace_back(row);
  return pipelines;
}

// Every calibrator that `wanted` likes, on both poolings of an ensemble. Those that look at images
// are left out: few data sets have them.
template <class Wanted>
std::vector<std::string> EveryCalibrator(Wanted wanted) {
  std::vector<std::string> pipelines = Baselines();
  for (const CalibratorInfo* info : Calibrators()) {
    const std::string name = info->name;
    const std::unique_ptr<Calibrator> calibrator = MakeCalibrator({name}, {});
    if (name == "none" || calibrator->needs().image || !wanted(*calibrator)) continue;
    pipelines.push_back(name + "(p)");
    pipelines.push_back(name + "(z)");
  }
  return pipelines;
}

std::vector<std::string> Preserving() {
  return EveryCalibrator([](const Calibrator& calibrator) {
    return calibrator.properties().preserves != Preserves::kNone;
  });
}

std::vector<std::string> All() {
  return EveryCalibrator([](const Calibrator&) { return true; });
}

}  // namespace

std::vector<PipelineSet> ListPipelineSets() {
  return {
      {"paper", "the rows of the main paper's table", Paper()},
      {"fast", "the baselines and the temperature methods: seconds", Fast()},
      {"preserving",
       "every method that never changes the segmentation and needs no images",
       Preserving()},
      {"all", "every method that needs no images, on mean logits and on mean probabilities", All()},
  };
}

namespace {

// At commas outside parentheses: those inside separate arguments.
std::vector<std::string> SplitPipelines(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> PipelinesNamed(const std::string& name) {
  std::vector<std::string> sets;
  for (const PipelineSet& set : ListPipelineSets()) {
    if (name == set.name) return set.pipelines;
    sets.emplace_back(set.name);
  }
  try {
    return {FormatPipeline(ParsePipeline(name))};
  } catch (const Error& error) {
    if (name.find('(') != std::string::npos) throw;
    Throw(error.code(), "{}; sets are {}", error.what(), fmt::join(sets, ", "));
  }
}

}  // namespace

std::vector<std::string> ExpandPipelines(const std::vector<std::string>& names) {
  std::vector<std::string> pipelines;
  for (const std::string& list : names) {
    for (const std::string& name : SplitPipelines(list)) {
      for (const std::string& pipeline : PipelinesNamed(name)) {
        if (std::find(pipelines.begin(), pipelines.end(), pipeline) == pipelines.end())
          pipelines.push_back(pipeline);
      }
    }
  }
  return pipelines;
}

}  // namespace segcal
