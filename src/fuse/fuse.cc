// SPDX-License-Identifier: Apache-2.0
#include "segcal/fuse.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "formats/array.h"
#include "fuse/case_votes.h"
#include "fuse/measure.h"
#include "pipeline/compatible.h"
#include "pipeline/run.h"
#include "segcal/evaluate.h"
#include "segcal/files.h"
#include "segcal/fit.h"
#include "stats/bootstrap.h"

namespace segcal {
namespace {

constexpr const char* kUncalibrated = "uncalibrated";
constexpr const char* kBestCalibration = "best calibration";
constexpr const char* kBestFusion = "best fusion";

void CheckOptions(const FuseOptions& options, const Dataset& dataset) {
  const FusionInfo& method = FindFusion(options.method);
  if (!(options.ridge > 0.0 && options.ridge <= 1e6))
    Throw(ErrorCode::kInvalidArgument,
          "ridge {}; a positive number is required, at most 1e6",
          options.ridge);
  if (!(options.tolerance >= 0.0))
    Throw(ErrorCode::kInvalidArgument, "tolerance {}; at least 0 is required", options.tolerance);
  if (method.needs_half && !dataset.background)
    Throw(ErrorCode::kInvalidArgument,
          "{} falls back on the background, and the data set \"{}\" names none",
          options.method,
          dataset.name);
  if (!options.format.empty()) FindWritableFormat(options.format);
}

// A model must be of what the members are, and of one member.
void CheckModels(const std::vector<Model>& models, const Dataset& dataset) {
  for (const Model& model : models) {
    if (model.classes() != VoteClasses(dataset) || model.input() != dataset.input) {
      Throw(ErrorCode::kInvalidArgument,
            "the model {} is for {} of the classes {}; the candidates are {} of {}",
            model.pipeline(),
            Name(model.input()),
            fmt::join(model.classes(), ", "),
            Name(*dataset.input),
            fmt::join(VoteClasses(dataset), ", "));
    }
    if (ModelAccess::State(model).spec.pooling.member > 0) {
      Throw(ErrorCode::kInvalidArgument,
            "the model {} takes one member of several; every candidate is calibrated by itself",
            model.pipeline());
    }
  }
}

// Where the segmentation of a way to fuse goes.
std::string OutputPath(const std::string& folder,
                       const std::string& row,
                       bool several,
                       const CaseVotes& votes,
                       const FuseOptions& options) {
  std::string format = options.format;
  if (format.empty() && votes.shape().size() == 2) format = "png";
  if (format.empty()) format = votes.geometry_file().empty() ? "npy" : "nifti";
  const std::string file = votes.id() + Extensions(FindWritableFormat(format)).front();
  return several ? folder + "/" + row + "/" + file : folder + "/" + file;
}

void SaveSegmentation(const std::string& path,
                      const CaseVotes& votes,
                      const std::vector<uint16_t>& fused,
                      int64_t num_classes) {
  const bool small = num_classes <= 256;
  const ArrayInfo info{
      .dtype = small ? DType::kU8 : DType::kU16,
      .shape = votes.shape(),
      .spacing = {votes.grid().spacing.end() - static_cast<ptrdiff_t>(votes.shape().size()),
                  votes.grid().spacing.end()}};
  WriteOptions write;
  const FormatInfo* format = FormatByExtension(path);
  if (format != nullptr && format->name == std::string("nifti"))
    write.reference = votes.geometry_file();
  CreateParentFolder(path);
  if (!small) return SaveArray(path, info, fused.data(), write);
  const std::vector<uint8_t> bytes(fused.begin(), fused.end());
  SaveArray(path, info, bytes.data(), write);
}

// One run over the cases.
class FuseJob {
 public:
  FuseJob(const Dataset& dataset,
          const std::vector<Model>& models,
          const std::string& folder,
          const FuseOptions& options)
      : dataset_(dataset),
        models_(models),
        folder_(folder),
        options_(options),
        method_(FindFusion(options.method)),
        threads_(options.run.threads > 0 ? options.run.threads : AvailableThreads()) {
    Dataset votes{.name = dataset.name, .classes = VoteClasses(dataset), .input = dataset.input};
    plain_.push_back(Baseline(votes, "none(z)"));
    result_.dataset = dataset.name;
    result_.split = options.split;
    result_.method = options.method;
    result_.candidates = static_cast<int64_t>(dataset.cases.front().members.size());
    result_.rows.push_back({.name = kUncalibrated});
    for (const Model& model : models) result_.rows.push_back({.name = model.pipeline()});
    result_.rows.push_back({.name = kBestCalibration});
    result_.rows.push_back({.name = kBestFusion});
  }

  FuseResult Run() {
    for (const Case& entry : dataset_.cases) {
      ReportProgress({.stage = "fuse",
                      .done = seen_,
                      .total = std::ssize(dataset_.cases),
                      .detail = fmt::format("{} of {} cases", seen_, dataset_.cases.size())});
      TryCase(entry);
      ++seen_;
    }
    if (result_.cases == 0)
      Throw(ErrorCode::kBadData, "no case can be read; the first: {}", result_.skipped.front());
    return std::move(result_);
  }

 private:
  using Segmentations = std::vector<std::vector<uint16_t>>;  // uncalibrated, then by every model

  void TryCase(const Case& entry) {
    if (!options_.run.skip_bad) return FuseCase(entry);
    try {
      FuseCase(entry);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadData && error.code() != ErrorCode::kIo) throw;
      result_.skipped.push_back(entry.id + ": " + error.what());
    }
  }

  void FuseCase(const Case& entry) {
    CaseVotes votes(dataset_, entry, options_.run);
    Segmentations fused = {votes.Fuse(ModelAccess::State(plain_.front()), method_, options_)};
    for (const Model& model : models_)
      fused.push_back(votes.Fuse(ModelAccess::State(model), method_, options_));
    const auto measured = MeasureCase(votes, fused);
    SaveCase(votes, fused);
    for (size_t row = 0; row < measured.size(); ++row)
      result_.rows[row].cases.push_back({.id = entry.id, .metrics = measured[row]});
    result_.voxels += votes.voxels();
    ++result_.cases;
  }

  // Of every row, the bounds last; nothing without labels.
  std::vector<std::vector<MetricValue>> MeasureCase(const CaseVotes& votes,
                                                    const Segmentations& fused) const {
    const bool labelled = std::any_of(votes.truth().begin(),
                                      votes.truth().end(),
                                      [](int32_t label) { return label != kNoLabel; });
    if (!labelled) return {};
    const FusionMeasure measure(votes, fused[0], dataset_, options_.tolerance, threads_);
    std::vector<std::vector<MetricValue>> rows;
    for (const std::vector<uint16_t>& map : fused) rows.push_back(measure.Measure(map));
    const FusionInfo& joint = FindFusion("jlf");
    rows.push_back(measure.Measure(votes.FusePerfectlyCalibrated(joint, options_)));
    rows.push_back(measure.Measure(votes.FusePerfectly(fused[0])));
    return rows;
  }

  void SaveCase(const CaseVotes& votes, const Segmentations& fused) {
    if (folder_.empty()) return;
    const bool several = models_.size() > 1;
    for (size_t row = several ? 0 : models_.size(); row < fused.size(); ++row) {
      const std::string path =
          OutputPath(folder_, result_.rows[row].name, several, votes, options_);
      SaveSegmentation(path, votes, fused[row], dataset_.num_classes());
      result_.files.push_back(path);
    }
  }

  const Dataset& dataset_;
  const std::vector<Model>& models_;
  const std::string& folder_;
  const FuseOptions& options_;
  const FusionInfo& method_;
  int threads_;
  int64_t seen_ = 0;
  std::vector<Model> plain_;  // the one that changes nothing
  FuseResult result_;
};

RepeatedValues ListValues(const FusionRow& row, size_t metric) {
  std::vector<double> values;
  values.reserve(row.cases.size());
  for (const FusedCase& c : row.cases) values.push_back(c.metrics[metric].value);
  return {values};
}

MetricInterval MakeInterval(const char* metric, const BootstrapInterval& interval) {
  return {.metric = metric,
          .estimate = interval.estimate,
          .lower = interval.lower,
          .upper = interval.upper};
}

void AddIntervals(const FuseOptions& options, FuseResult* result) {
  std::erase_if(result->rows, [](const FusionRow& row) { return row.cases.empty(); });
  const BootstrapOptions bootstrap{.replicates = options.replicates,
                                   .level = 0.95,
                                   .seed = options.seed,
                                   .num_threads = options.run.threads};
  for (FusionRow& row : result->rows) {
    for (size_t k = 0; k < FusionMetrics().size(); ++k) {
      const FusionMetric& metric = FusionMetrics()[k];
      const RepeatedValues values = ListValues(row, k);
      row.means.push_back(MakeInterval(metric.name, BootstrapMean(values, bootstrap)));
      if (metric.of_changes || row.name == kUncalibrated) continue;
      row.differences.push_back(MakeInterval(
          metric.name,
          BootstrapPairedDifference(ListValues(result->rows[0], k), values, bootstrap)));
    }
  }
}

}  // namespace

FuseResult Fuse(const Dataset& dataset,
                const std::vector<Model>& models,
                const std::string& folder,
                const FuseOptions& options) {
  const ProgressScope scope(options.run.progress);
  MakeStreamOptions(options.run);  // checks memory and threads
  CheckCandidates(dataset);
  CheckOptions(options, dataset);
  CheckModels(models, dataset);
  const Dataset cases = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  std::optional<NewFolder> output;
  if (!folder.empty()) output.emplace(folder);
  FuseResult result = FuseJob(cases, models, folder, options).Run();
  AddIntervals(options, &result);
  if (output) output->Keep();
  return result;
}

FuseResult FuseStudy(const Dataset& dataset,
                     const std::vector<std::string>& pipelines,
                     const std::string& folder,
                     const FuseOptions& options) {
  const ProgressScope scope(options.run.progress);
  if (pipelines.empty())
    Throw(ErrorCode::kInvalidArgument, "no pipelines to calibrate the candidates with");
  CheckCandidates(dataset);
  CheckOptions(options, dataset);
  FuseOptions fuse = options;
  if (fuse.split.empty()) fuse.split = "test";
  SelectSplit(dataset, fuse.split);  // before the fits: an unknown one ends here
  NewFolder output(folder);
  const Dataset votes = WriteVotes(dataset, folder + "/votes", options.run);
  CreateFolder(folder + "/models");
  std::vector<Model> models;
  FitOptions fit;
  fit.run = options.run;
  fit.seed = options.seed;
  for (const std::string& pipeline : ExpandPipelines(pipelines)) {
    models.push_back(Fit(votes, pipeline, fit).model);
    models.back().Save(fmt::format("{}/models/{}.json", folder, models.size()));
  }
  FuseResult result = Fuse(dataset, models, folder + "/fused", fuse);
  WriteText(folder + "/fusion.json", ToJson(result));
  output.Keep();
  return result;
}

}  // namespace segcal
