// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/nnunet.h"
#include "pipeline/apply_job.h"

namespace segcal {

// Applying a model to folders of nnU-Net in steps, so that cases may be spread over parts of a job.
class NnunetJob {
 public:
  // Checks everything that can be told before the work. `shared`: other processes write files of
  // the same cases into the folder, which need not be empty then.
  NnunetJob(const Model& model,
            const std::vector<std::string>& inputs,
            const std::string& folder,
            const NnunetApplyOptions& options,
            bool shared);

  const Dataset& dataset() const noexcept { return dataset_; }
  // Of all or some of the cases.
  AppliedCases Run(const Dataset& cases) const;
  // Carries over what all cases share.
  ApplySummary Summarise() const;

 private:
  const Model& model_;
  const std::string folder_;
  const NnunetApplyOptions& options_;
  const bool shared_;
  NnunetFolders found_;
  Dataset dataset_;
  std::vector<std::string> notes_;
};

}  // namespace segcal
