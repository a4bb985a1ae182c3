// SPDX-License-Identifier: Apache-2.0
// The local temperature tree on all cores: one step of training, temperatures alone, and `lts`
// applied beside `ts`. Arithmetic is compared with what the machine does in registers, measured in
// the same run. bench/tree.py compares with PyTorch.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

#include "bench/peak.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "kernels/dispatch.h"
#include "kernels/tree.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

// As bench/tree.py.
constexpr int64_t kPlanes = 4;
constexpr int64_t kHeight = 480;
constexpr int64_t kWidth = 512;
constexpr int64_t kVoxels = kPlanes * kHeight * kWidth;

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Multiply-adds of single numbers per second, all cores, the best of five.
double PeakRate() {
  double best = 0.0;
  for (int i = 0; i < 5; ++i) {
    std::vector<int64_t> counts(static_cast<size_t>(AvailableThreads()));
    const double seconds = Seconds([&] {
      ParallelFor(static_cast<int64_t>(counts.size()), 0, [&](int64_t t, int) {
        float sink = 1.0f;
        counts[static_cast<size_t>(t)] = MultiplyAdds(20'000'000, &sink);
        benchmark::DoNotOptimize(sink);
      });
    });
    double total = 0.0;
    for (const int64_t count : counts) total += static_cast<double>(count);
    best = std::max(best, total / seconds);
  }
  return best;
}

struct Planes {
  int64_t classes;
  std::vector<float> scores;
  std::vector<int32_t> labels = std::vector<int32_t>(static_cast<size_t>(kVoxels));
  TreeWeights weights;

  static constexpr int64_t kRowStride = kWidth + 24;
  static constexpr int64_t kChannelStride = kRowStride * (kHeight + 2 * kTreeHalo);

  explicit Planes(int64_t num_classes)
      : classes(num_classes),
        scores(static_cast<size_t>(kPlanes * num_classes * kChannelStride + kStripColumns)),
        weights(TreeShape{.classes = num_classes}) {
    Rng rng(1, 0);
    for (float& s : scores) s = static_cast<float>(-10.0 * rng.Uniform());
    for (int32_t& label : labels) label = static_cast<int32_t>(rng.Below(classes));
    std::vector<double> parameters(static_cast<size_t>(weights.shape().num_parameters()));
    for (double& p : parameters) p = 0.01 * rng.Normal();
    weights.Pack(parameters);
  }

  // Calls use(strip, labels) for strips of all planes, a row of strips per task.
  template <class Use>
  void ForEachStrip(const Use& use) const {
    const int64_t rows = kHeight / kStripRows;
    ParallelFor(kPlanes * rows, 0, [&](int64_t task, int worker) {
      const int64_t plane = task / rows;
      const int64_t y = task % rows * kStripRows;
      const PaddedPlane all{
          classes, scores.data() + plane * classes * kChannelStride, kRowStride, kChannelStride};
      for (int64_t x = 0; x < kWidth; x += kStripColumns) {
        use(TreeStrip{.scores = all.From(y, x), .rows = kStripRows},
            labels.data() + (plane * kHeight + y) * kWidth + x,
            worker);
      }
    });
  }
};

void Report(benchmark::State& state, double multiply_adds) {
  static const double peak = PeakRate();
  const double rate = multiply_adds * static_cast<double>(state.iterations());
  state.counters["GFMA/s"] = benchmark::Counter(1e-9 * rate, benchmark::Counter::kIsRate);
  state.counters["of_peak"] = benchmark::Counter(rate / peak, benchmark::Counter::kIsRate);
  state.counters["peak_GFMA/s"] = 1e-9 * peak;
}

double FilterWork(int64_t classes) {
  return static_cast<double>(7 * kTreeTaps * classes) * static_cast<double>(kVoxels);
}

// Forward, loss and weight gradients.
void TreeStep(benchmark::State& state) {
  const Planes planes(state.range(0));
  const auto size = static_cast<size_t>(planes.weights.packed_size());
  for (auto _ : state) {
    std::vector<std::vector<double>> gradients(static_cast<size_t>(AvailableThreads()),
                                               std::vector<double>(size));
    planes.ForEachStrip([&](const TreeStrip& strip, const int32_t* labels, int worker) {
      TreeValues values;
      alignas(64) float slopes[kStripVoxels];
      TreeLoss loss;
      TreeTemperaturesAndSlopes(strip, planes.weights, &values);
      AddTreeLoss(strip, labels, kWidth, kStripColumns, values.temperature, slopes, &loss);
      AddTreeGradient(
          strip, planes.weights, slopes, &values, gradients[static_cast<size_t>(worker)].data());
    });
    benchmark::DoNotOptimize(gradients[0][0]);
  }
  Report(state, 2.0 * FilterWork(state.range(0)));
}

void TreeForward(benchmark::State& state) {
  const Planes planes(state.range(0));
  for (auto _ : state) {
    planes.ForEachStrip([&](const TreeStrip& strip, const int32_t*, int) {
      TreeValues values;
      TreeTemperatures(strip, planes.weights, &values);
      benchmark::DoNotOptimize(values.temperature[0]);
    });
  }
  Report(state, FilterWork(state.range(0)));
}

Model Unfitted(const std::string& pipeline, int64_t classes) {
  return UnfittedModel(ParsePipeline(pipeline),
                       std::vector<std::string>(static_cast<size_t>(classes), "class"),
                       InputKind::kLogits);
}

Model LocalModel(int64_t classes) {
  Rng rng(2, 0);
  Json filters = Json::object();
  for (const char* name : {"t1", "t2", "t3", "t4", "g1", "g2", "g3"}) {
    std::vector<double> filter(static_cast<size_t>(kTreeTaps * classes + 1));
    for (double& w : filter) w = 0.01 * rng.Normal();
    filters[name] = filter;
  }
  Json json = ParseJson(Unfitted("lts(z)", classes).ToJson(), "bench");
  json["parameters"] = filters;
  return Model::FromJson(DumpJson(json));
}

// From array to array; one image of 1024 x 2048.
void ApplyModel(benchmark::State& state, const Model& model, int64_t classes) {
  const int64_t voxels = 1024 * 2048;
  std::vector<float> logits(static_cast<size_t>(classes * voxels));
  Rng rng(3, 0);
  for (float& z : logits) z = static_cast<float>(8.0 * rng.Uniform());
  std::vector<float> probs(logits.size());
  const LogitsView view{MakeView(logits.data(), {classes, 1024, 2048})};
  const ApplyOutputs out{.probabilities = MakeSpan(probs.data(), {classes, 1024, 2048})};
  for (auto _ : state) model.Apply(view, out);
}

void ApplyTs(benchmark::State& state) {
  ApplyModel(state, Unfitted("ts(z)", state.range(0)), state.range(0));
}
void ApplyLts(benchmark::State& state) {
  ApplyModel(state, LocalModel(state.range(0)), state.range(0));
}

BENCHMARK(TreeStep)->Arg(5)->Arg(20)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(TreeForward)->Arg(5)->Arg(20)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ApplyTs)->Arg(5)->Arg(20)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ApplyLts)->Arg(5)->Arg(20)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace segcal

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("target", segcal::ActiveTarget());
  benchmark::AddCustomContext("threads", std::to_string(segcal::AvailableThreads()));
  benchmark::RunSpecifiedBenchmarks();
}
