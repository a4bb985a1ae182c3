// SPDX-License-Identifier: Apache-2.0
// pipeline_bench DATASET FOLDER: whole passes, fits, applications and evaluations through the
// library, on a data set that is in memory as a caller's arrays and on disk as files.
//
// Every line of standard input names a piece of work, which is done once; the answer is a line of
// JSON with its seconds and what it found. A script that asks can thus take turns between us and
// others. FOLDER takes what is written.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bench/bandwidth.h"
#include "core/aligned.h"
#include "core/file.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "data/stream.h"
#include "formats/array.h"
#include "kernels/dispatch.h"
#include "methods/shared/temperature_pass.h"
#include "metrics/metric.h"
#include "pipeline/emit.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/segcal.h"

namespace segcal {
namespace {

// The elements of a file in memory of ours.
class Resident {
 public:
  explicit Resident(const std::string& path) {
    const std::unique_ptr<Array> array = OpenArray(path);
    info_ = array->info();
    data_ = buffer_.Reserve(bytes());
    array->Read(0, info_.NumElements(), data_);
  }

  const ArrayInfo& info() const { return info_; }
  int64_t bytes() const { return info_.NumElements() * ElementSize(info_.dtype); }
  const std::byte* data() const { return data_; }
  ArrayView View() const { return {.data = data_, .dtype = info_.dtype, .shape = info_.shape}; }

 private:
  ArrayInfo info_;
  AlignedBuffer buffer_;
  std::byte* data_ = nullptr;
};

// A data set in memory: one member per case, with labels.
class ResidentData {
 public:
  explicit ResidentData(Dataset dataset) : dataset_(std::move(dataset)) {
    for (const Case& entry : dataset_.cases) {
      scores_.push_back(std::make_unique<Resident>(FullPath(dataset_, entry.members[0])));
      labels_.push_back(std::make_unique<Resident>(FullPath(dataset_, entry.labels)));
    }
  }

  const Dataset& dataset() const { return dataset_; }
  int64_t num_cases() const { return static_cast<int64_t>(scores_.size()); }
  const Resident& scores(int64_t c) const { return *scores_[static_cast<size_t>(c)]; }
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& scores : scores_) sum += scores->bytes();
    return sum;
  }

  CaseStream Stream() const {
    Dataset memory = dataset_;
    for (size_t c = 0; c < scores_.size(); ++c) {
      memory.cases[c].members = {scores_[c]->View()};
      memory.cases[c].labels = labels_[c]->View();
    }
    return CaseStream(std::move(memory), {Pooling{}}, {});
  }

 private:
  Dataset dataset_;
  std::vector<std::unique_ptr<Resident>> scores_;
  std::vector<std::unique_ptr<Resident>> labels_;
};

// What one worker needs to evaluate tiles.
struct EvaluationWorker {
  TileBuffer tile;
  EmitBuffer emit;
  std::vector<std::unique_ptr<MetricAccumulator>> families;
  TopLabelBuffer top;
};

class Bench {
 public:
  Bench(const std::string& dataset, std::string folder)
      : data_(LoadDataset(dataset)), stream_(data_.Stream()), folder_(std::move(folder)) {
    for (int64_t c = 0; c < data_.num_cases(); ++c) {
      // Pages are touched now, not while the clock runs.
      const int64_t bytes = data_.scores(c).bytes();
      std::memset(outputs_.emplace_back().Reserve(bytes), 0, static_cast<size_t>(bytes));
    }
  }

  // Does the work once; numbers about the result go to `found`.
  void Run(const std::string& work, std::istream& arguments, Json* found) {
    if (work == "describe") return Describe(found);
    if (work == "read") return Read(found);
    if (work == "copy") return Copy(/*streaming=*/false);
    if (work == "copy_streaming") return Copy(/*streaming=*/true);
    if (work == "pass") return Pass(arguments, found);
    if (work == "fit") return FitArrays(arguments, found);
    if (work == "apply") return ApplyArrays();
    if (work == "metrics") return EvaluateArrays(arguments, found);
    if (work == "read_files") return ReadFiles(found);
    if (work == "copy_files") return CopyFiles();
    if (work == "fit_files") return FitFiles(found);
    if (work == "apply_files") return ApplyFiles();
    if (work == "evaluate_files") return EvaluateFiles(found);
    Throw(ErrorCode::kInvalidArgument, "there is no work \"{}\"", work);
  }

 private:
  void Describe(Json* found) const {
    const ArrayInfo& info = data_.scores(0).info();
    (*found)["target"] = ActiveTarget();
    (*found)["threads"] = stream_.num_workers();
    (*found)["cases"] = data_.num_cases();
    (*found)["shape"] = info.shape;
    (*found)["dtype"] = Name(info.dtype);
    (*found)["bytes"] = data_.bytes();
  }

  void Read(Json* found) const {
    std::atomic<uint64_t> fold{0};
    for (int64_t c = 0; c < data_.num_cases(); ++c) {
      const Resident& scores = data_.scores(c);
      ForEachChunk(scores.bytes(), [&](int64_t offset, int64_t bytes) {
        fold ^= FoldBytes(scores.data() + offset, bytes);
      });
    }
    (*found)["fold"] = fold.load();
  }

  void Copy(bool streaming) {
    for (int64_t c = 0; c < data_.num_cases(); ++c) {
      const std::byte* from = data_.scores(c).data();
      std::byte* to = OutputOf(c);
      ForEachChunk(data_.scores(c).bytes(), [&](int64_t offset, int64_t bytes) {
        if (streaming) return CopyStreaming(from + offset, bytes, to + offset);
        std::memcpy(to + offset, from + offset, static_cast<size_t>(bytes));
      });
    }
  }

  void Pass(std::istream& arguments, Json* found) const {
    double beta = 1.0;
    arguments >> beta;
    const Point1D point = MeanPoint(beta, TemperaturePass(stream_, "pass", Pooling{}, beta));
    (*found)["nll"] = point.value;
    (*found)["slope"] = point.slope;
  }

  static void Tell(const Model& model, Json* found) {
    const FitOutcome& outcome = model.report();
    const Json parameters = ModelAccess::State(model).calibrator->Parameters();
    if (parameters.contains("beta")) (*found)["beta"] = parameters["beta"];
    (*found)["nll"] = outcome.nll_after;
    (*found)["passes"] = outcome.passes;
    double gradient = 0.0;
    double objective = 0.0;
    double voxels = 0.0;
    for (const Certificate& expert : outcome.certificates) {
      gradient = std::max(gradient, expert.gradient);
      if (expert.path.empty() || expert.voxels == 0) continue;
      objective += static_cast<double>(expert.voxels) * expert.path.back();
      voxels += static_cast<double>(expert.voxels);
    }
    (*found)["gradient"] = gradient;
    (*found)["objective"] = objective / voxels;
  }

  // Arguments: the pipeline, ts(z) if there is none.
  void FitArrays(std::istream& arguments, Json* found) {
    std::string pipeline;
    std::getline(arguments >> std::ws, pipeline);
    if (pipeline.empty()) pipeline = "ts(z)";
    model_ = FitStream(stream_, ParsePipeline(pipeline), /*seed=*/0);
    Tell(model_, found);
  }

  void FitFiles(Json* found) { Tell(Fit(data_.dataset(), "ts(z)").model, found); }

  std::byte* OutputOf(int64_t c) { return outputs_[static_cast<size_t>(c)].Reserve(0); }

  void ApplyArrays() {
    for (int64_t c = 0; c < data_.num_cases(); ++c) {
      const Resident& scores = data_.scores(c);
      auto* out = reinterpret_cast<float*>(OutputOf(c));
      model_.Apply(LogitsView{scores.View()},
                   {.probabilities = MakeSpan(out, scores.info().shape)});
    }
  }

  // Arguments: metric families. Scores come without entropy, which the bars are not about, unless
  // `entropy` is among the arguments.
  std::vector<EvaluationWorker> MakeWorkers(std::istream& arguments) const {
    const std::vector<std::string> names{std::istream_iterator<std::string>(arguments), {}};
    const MetricContext context{.num_classes = data_.dataset().num_classes()};
    const bool entropy = std::find(names.begin(), names.end(), "entropy") != names.end();
    const auto options = [&](const std::string& name) {
      return name == "scores" && !entropy ? OptionMap{{"entropy", "false"}} : OptionMap{};
    };
    std::vector<EvaluationWorker> workers(static_cast<size_t>(stream_.num_workers()));
    for (EvaluationWorker& worker : workers) {
      for (const std::string& name : names) {
        for (const MetricInfo* info : Metrics()) {
          if (name == info->name) worker.families.push_back(info->make(context, options(name)));
        }
      }
    }
    return workers;
  }

  // Emits the tile and adds it to everything but free energy statistics.
  static void AddTile(const Tile& tile,
                      const ModelState& model,
                      const BoundCalibrator& bound,
                      EvaluationWorker* worker) {
    const TileProbs probs = worker->emit.Reserve(tile.num_classes);
    const TopLabel top =
        EmitTopLabel(bound, model.calibrator->properties(), tile, probs, &worker->top);
    const EvalTile emitted{.num_classes = tile.num_classes,
                           .probs = probs.probs,
                           .log_label = probs.log_label,
                           .confidence = top.confidence,
                           .predicted = top.predicted,
                           .decision = tile.decision,
                           .labels = tile.labels};
    for (const auto& family : worker->families) family->Add(emitted);
  }

  void EvaluateArrays(std::istream& arguments, Json* found) const {
    std::vector<EvaluationWorker> workers = MakeWorkers(arguments);
    const auto bound = ModelAccess::State(model_).calibrator->Bind(*stream_.Open(0), Pooling{}, {});
    stream_.ForEachBlock("metrics", [&](VoxelBlock& block, int64_t, int w) {
      EvaluationWorker& worker = workers[static_cast<size_t>(w)];
      for (int64_t t = 0; t < block.num_tiles(); ++t) {
        AddTile(block.PoolTileInto(t, Pooling{}, &worker.tile),
                ModelAccess::State(model_),
                *bound,
                &worker);
      }
      for (const auto& family : worker.families) family->Flush();
    });
    for (size_t w = 1; w < workers.size(); ++w) {
      for (size_t f = 0; f < workers[0].families.size(); ++f)
        workers[0].families[f]->Merge(*workers[w].families[f]);
    }
    for (const auto& family : workers[0].families) {
      for (const MetricValue& value : family->Finish()) (*found)[value.name] = value.value;
    }
  }

  void EvaluateFiles(Json* found) const {
    const EvaluateResult result = Evaluate(data_.dataset(), {model_});
    for (const MetricValue& metric : result.pipelines[0].pooled)
      (*found)[metric.name] = metric.value;
  }

  void ApplyFiles() const { Apply(model_, data_.dataset(), folder_); }

  // The files as bytes, by reads of a chunk.
  void ReadFiles(Json* found) const {
    std::atomic<uint64_t> fold{0};
    for (const Case& entry : data_.dataset().cases) {
      const InputFile file(FullPath(data_.dataset(), entry.members[0]));
      ForEachChunk(file.size(), [&](int64_t offset, int64_t bytes) {
        static thread_local AlignedBuffer buffer;
        const std::span<std::byte> chunk(buffer.Reserve(kChunkBytes), static_cast<size_t>(bytes));
        file.ReadAt(offset, chunk);
        fold ^= FoldBytes(chunk.data(), bytes);
      });
    }
    (*found)["fold"] = fold.load();
  }

  // Copies of the files, written and synced as ours are.
  void CopyFiles() const {
    for (size_t c = 0; c < data_.dataset().cases.size(); ++c) {
      const InputFile file(FullPath(data_.dataset(), data_.dataset().cases[c].members[0]));
      OutputFile copy(fmt::format("{}/copy{}.npy", folder_, c));
      copy.MakeRoom(file.size());
      ForEachChunk(file.size(), [&](int64_t offset, int64_t bytes) {
        static thread_local AlignedBuffer buffer;
        const std::span<std::byte> chunk(buffer.Reserve(kChunkBytes), static_cast<size_t>(bytes));
        file.ReadAt(offset, chunk);
        copy.WriteAt(offset, chunk);
      });
      copy.Commit();
    }
  }

  const ResidentData data_;
  const CaseStream stream_;
  const std::string folder_;
  std::vector<AlignedBuffer> outputs_;  // per case
  Model model_ =
      UnfittedModel(ParsePipeline("ts(z)"), data_.dataset().classes, *data_.dataset().input);
};

// Processor time of all our threads: less than threads x seconds where others are at work too.
double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Answer(Bench* bench, const std::string& line) {
  std::istringstream words(line);
  std::string work;
  words >> work;
  Json found;
  const double processor = ProcessorSeconds();
  const auto start = std::chrono::steady_clock::now();
  bench->Run(work, words, &found);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  found["seconds"] = time.count();
  found["processor_seconds"] = ProcessorSeconds() - processor;
  fmt::print("{}\n", found.dump());
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: pipeline_bench DATASET FOLDER\n");
    return 2;
  }
  try {
    Bench bench(argv[1], argv[2]);
    for (std::string line; std::getline(std::cin, line);) Answer(&bench, line);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pipeline_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace segcal

int main(int argc, char** argv) { return segcal::Main(argc, argv); }
