// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "segcal/apply.h"
#include "segcal/compare.h"
#include "segcal/dataset.h"
#include "segcal/evaluate.h"
#include "segcal/export.h"
#include "segcal/inspect.h"
#include "segcal/model.h"

namespace segcal {

// A job in parts that know nothing of each other: each does its share of the cases and leaves a
// state; merged, in any order, the states give what one process would have given, to the last bit.

struct Part {
  int64_t index = 1;  // of 1 to count
  int64_t count = 1;
};

// "3/10"; anything else is an Error.
SEGCAL_EXPORT Part ParsePart(const std::string& text);
// "3/10".
SEGCAL_EXPORT std::string Name(const Part& part);

// The cases of one part, in their order; there may be none. Cases of one group stay together;
// groups are dealt by the size of their predictions, the largest first, each to the part that has
// least so far.
SEGCAL_EXPORT Dataset SelectPart(const Dataset& dataset, const Part& part);

// What is done in parts.
enum class PartJob { kEvaluate, kApply, kInspect };
SEGCAL_EXPORT const char* Name(PartJob job) noexcept;  // "evaluate", "apply", "inspect"

// What a part leaves: values of its cases, exact sums over them, and what they were made from. The
// file is described in docs/formats.md.
class SEGCAL_EXPORT PartState {
 public:
  // A file that is cut short, damaged or of another version is an Error.
  static PartState Load(const std::string& path);
  static PartState FromBytes(const std::string& bytes, const std::string& where = "part");
  // The file appears complete or not at all.
  void Save(const std::string& path) const;
  std::string ToBytes() const;

  PartJob job() const noexcept;
  Part part() const noexcept;
  int64_t cases() const noexcept;            // that were done
  int64_t all_cases() const noexcept;        // of the whole job
  std::vector<std::string> skipped() const;  // "case: why"
  // What the evaluation was asked for (EvaluateOptions::families), which tables show.
  std::vector<std::string> families() const;

  // Of the library itself.
  struct State;
  explicit PartState(std::shared_ptr<const State> state);
  const State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// One part of Evaluate, Apply, ApplyNnunet and Inspect; their options mean the same.
SEGCAL_EXPORT PartState EvaluatePart(const Dataset& dataset,
                                     const std::vector<Model>& models,
                                     const EvaluateOptions& options,
                                     const Part& part);
// Writes the files of its cases. Parts may write into one folder at the same time.
SEGCAL_EXPORT PartState ApplyPart(const Model& model,
                                  const Dataset& dataset,
                                  const std::string& folder,
                                  const ApplyOptions& options,
                                  const Part& part);
// The folder may hold files of the same cases and nothing else.
SEGCAL_EXPORT PartState ApplyNnunetPart(const Model& model,
                                        const std::vector<std::string>& inputs,
                                        const std::string& folder,
                                        const NnunetApplyOptions& options,
                                        const Part& part);
SEGCAL_EXPORT PartState InspectPart(const Dataset& dataset,
                                    const RunOptions& options,
                                    const Part& part);

// All parts of one job, in any order. An Error names parts that are missing or given twice, and
// those of another job: of other data, models, options, number of parts, or version.
SEGCAL_EXPORT EvaluateResult MergeEvaluate(const std::vector<PartState>& parts);
SEGCAL_EXPORT ApplyResult MergeApply(const std::vector<PartState>& parts);
SEGCAL_EXPORT DatasetSummary MergeInspect(const std::vector<PartState>& parts);

// One part of Compare: its share of the fits, and what is evaluated with them, kept as units in
// options.folder, which all parts share. When all are done, Compare with `resume` finds every unit
// and makes the study of them, the same as that of one process; what is missing it does itself.
struct StudyPart {
  int64_t units = 0;                        // that are done
  std::vector<StudyFailure> failures = {};  // Compare tries them once more
  std::vector<std::string> warnings = {};
};
SEGCAL_EXPORT StudyPart ComparePart(const Dataset& dataset,
                                    const CompareOptions& options,
                                    const Part& part);

}  // namespace segcal
