// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include "core/file.h"
#include "core/half.h"
#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "formats/array.h"
#include "train/run/state_file.h"
#include "train/run/train.h"

namespace segcal::train {
namespace {

std::vector<UNetState> LoadMembers(const std::string& folder,
                                   const RunDescription& run,
                                   const UNet& net) {
  std::vector<UNetState> members;
  for (int64_t m = 0; m < run.members; ++m) {
    const std::string file = BestFile(folder, m);
    if (!IsFile(file)) {
      Throw(ErrorCode::kIo,
            "{}: not there; the training of member {} has not completed an epoch",
            file,
            m);
    }
    members.push_back(net.Initialise(Rng(0, 0)));
    LoadState(file, {members.back().weights, members.back().statistics});
  }
  return members;
}

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
                            int64_t members,
                            bool corrupted) {
  Dataset result = dataset;
  result.input = InputKind::kLogits;
  result.key.clear();
  result.layout = Layout::kChannelsFirst;
  for (Case& entry : result.cases) {
    for (ArraySource* source : {&entry.labels, &entry.mask, &entry.image})
      *source = RebaseSource(dataset, *source, folder);
    if (corrupted) entry.image = {};
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
  const UNet net(run.network);
  const std::vector<UNetState> members = LoadMembers(run_folder, run, net);
  CheckClasses(dataset, run);
  const Dataset chosen = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  at::set_num_threads(options.threads > 0 ? options.threads : AvailableThreads());
  NewFolder output(folder);
  for (int64_t m = 0; m < run.members; ++m) CreateFolder(fmt::format("{}/logits/m{}", folder, m));
  const Dataset result =
      DescribePredictions(chosen, folder, run.members, options.corrupt.has_value());
  const ReadImagesOptions read{.spatial_axes = run.spatial_axes,
                               .channels = run.network.channels,
                               .corrupt = options.corrupt};
  int64_t done = 0;
  for (const Case& entry : chosen.cases) {
    ReportProgress({.stage = "predict",
                    .done = done,
                    .total = std::ssize(chosen.cases),
                    .detail = fmt::format("case {} of {}", done + 1, chosen.cases.size())});
    ImageCase image = ReadImageCase(chosen, entry, read);
    run.normalisation.Apply(&image);
    for (size_t m = 0; m < members.size(); ++m) {
      const Tensor logits = PredictImage(net, members[m], image, options.predictor);
      SaveLogits(fmt::format("{}/logits/m{}/{}.npy", folder, m, entry.id),
                 logits,
                 image.shape,
                 options.half);
    }
    ++done;
  }
  // Last: a folder with a data set file is complete.
  SaveDataset(folder + "/dataset.json", result);
  output.Keep();
  return {.cases = done, .members = run.members};
}

}  // namespace segcal::train
