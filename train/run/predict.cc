// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include "core/half.h"
#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/text_hash.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "formats/array.h"
#include "train/run/load.h"
#include "train/run/train.h"

namespace segcal::train {
namespace {

// The networks of a run, and which of them predict a case.
class Networks {
 public:
  Networks(const std::string& folder, const RunDescription& run, bool out_of_fold)
      : run_(run), net_(run.network), out_of_fold_(out_of_fold) {
    if (out_of_fold && run.folds == 0) {
      Throw(
          ErrorCode::kInvalidArgument,
          "{}: not trained in folds, so there is no prediction out of fold; option folds of train "
          "makes it possible",
          folder);
    }
    for (const NetworkKey& key : ListNetworks(run.members, run.folds)) {
      keys_.push_back(key);
      states_.push_back(LoadNetwork(folder, key, net_));
    }
  }

  const UNet& net() const noexcept { return net_; }
  int64_t per_case() const noexcept {
    return out_of_fold_ ? run_.members : static_cast<int64_t>(keys_.size());
  }
  // All of them, or those of the fold that left the case out. A case that is in no fold was left
  // out by all; it gets the networks of one, by its name.
  std::vector<const UNetState*> Of(const std::string& id) const {
    std::vector<const UNetState*> chosen;
    const int64_t fold = out_of_fold_ ? FoldOf(id) : -1;
    for (size_t n = 0; n < keys_.size(); ++n) {
      if (!out_of_fold_ || keys_[n].fold == fold) chosen.push_back(&states_[n]);
    }
    return chosen;
  }

 private:
  int64_t FoldOf(const std::string& id) const {
    const auto found = run_.fold_of.find(id);
    if (found != run_.fold_of.end()) return found->second;
    return static_cast<int64_t>(HashText(id) % static_cast<uint64_t>(run_.folds));
  }

  const RunDescription& run_;
  UNet net_;
  bool out_of_fold_;
  std::vector<NetworkKey> keys_;
  std::vector<UNetState> states_;
};

void CheckClasses(const Dataset& dataset, const RunDescription& run) {
  if (dataset.classes == run.classes) return;
  Throw(ErrorCode::kBadData,
        "data set \"{}\" has the classes {}; the network was trained on {}",
        dataset.name,
        fmt::join(dataset.classes, ", "),
        fmt::join(run.classes, ", "));
}

// The data set of the predictions: the same cases, their files as seen from the new folder.
Dataset DescribePredictions(const Dataset& dataset,
                            const std::string& folder,
                            const RunDescription& run,
                            int64_t members,
                            const PredictOptions& options) {
  Dataset result = dataset;
  result.input = InputKind::kLogits;
  result.key.clear();
  result.layout = Layout::kChannelsFirst;
  for (Case& entry : result.cases) {
    for (ArraySource* source : {&entry.labels, &entry.mask, &entry.image})
      *source = RebaseSource(dataset, *source, folder);
    if (options.corrupt) entry.image = {};
    if (options.out_of_fold && run.fold_of.contains(entry.id)) entry.split = "calibration";
    entry.members.clear();
    entry.candidates.clear();
    for (int64_t m = 0; m < members; ++m)
      entry.members.emplace_back(fmt::format("logits/m{}/{}.npy", m, entry.id));
  }
  return result;
}

void SaveLogits(const std::string& path,
                const Tensor& logits,
                const std::vector<int64_t>& spatial,
                bool half) {
  ArrayInfo info{.dtype = half ? DType::kF16 : DType::kF32, .shape = spatial, .spacing = {}};
  info.shape.insert(info.shape.begin(), logits.size(0));
  const Tensor stored = logits.to(half ? at::kHalf : at::kFloat).contiguous();
  if (!stored.isfinite().all().item<bool>()) {
    Throw(ErrorCode::kUnsupported,
          "{}: a logit is not finite{}",
          path,
          half ? "; float16 ends at 65504" : "");
  }
  SaveArray(path, info, stored.data_ptr());
}

}  // namespace

PredictResult Predict(const std::string& run_folder,
                      const Dataset& dataset,
                      const std::string& folder,
                      const PredictOptions& options) {
  const ProgressScope scope(options.progress);
  const RunDescription run = ReadRun(run_folder);
  const Networks networks(run_folder, run, options.out_of_fold);
  CheckClasses(dataset, run);
  const Dataset chosen = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  at::set_num_threads(options.threads > 0 ? options.threads : AvailableThreads());
  NewFolder output(folder);
  PredictResult result{.members = networks.per_case()};
  for (int64_t m = 0; m < result.members; ++m)
    CreateFolder(fmt::format("{}/logits/m{}", folder, m));
  const ReadImagesOptions read{.spatial_axes = run.spatial_axes,
                               .channels = run.network.channels,
                               .corrupt = options.corrupt};
  for (const Case& entry : chosen.cases) {
    ReportProgress({.stage = "predict",
                    .done = result.cases,
                    .total = std::ssize(chosen.cases),
                    .detail = fmt::format("case {} of {}", result.cases + 1, chosen.cases.size())});
    ImageCase image = ReadImageCase(chosen, entry, read);
    run.normalisation.Apply(&image);
    int64_t m = 0;
    for (const UNetState* state : networks.Of(entry.id)) {
      const Tensor logits = PredictImage(networks.net(), *state, image, options.predictor);
      SaveLogits(fmt::format("{}/logits/m{}/{}.npy", folder, m++, entry.id),
                 logits,
                 image.shape,
                 options.half);
    }
    ++result.cases;
    if (options.out_of_fold && run.fold_of.contains(entry.id)) ++result.held_out;
    if (!options.out_of_fold && run.learned.contains(entry.id)) ++result.learned;
  }
  // Last: a folder with a data set file is complete.
  SaveDataset(folder + "/dataset.json",
              DescribePredictions(chosen, folder, run, result.members, options));
  output.Keep();
  return result;
}

}  // namespace segcal::train
