// SPDX-License-Identifier: Apache-2.0
// Kernels as fractions of what the memory of this machine can do, measured in the same run.
//
// The array is larger than any cache: images of 2048 x 1024 voxels with 20 classes, (C, H, W)
// float32, so class planes lie a power of two apart, the hardest case for caches.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bench/bandwidth.h"
#include "core/aligned.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "kernels/dispatch.h"
#include "kernels/emit.h"
#include "kernels/pool.h"
#include "kernels/softmax.h"
#include "kernels/temperature.h"

namespace segcal {
namespace {

constexpr int64_t kClasses = 20;
constexpr int64_t kImageVoxels = 2048 * 1024;
constexpr int64_t kImages = 7;
constexpr int64_t kImageFloats = kImageVoxels * kClasses;
constexpr int64_t kFloats = kImages * kImageFloats;
constexpr int64_t kBytes = kFloats * static_cast<int64_t>(sizeof(float));
// Voxels one task works on; a multiple of the tile.
constexpr int64_t kTaskVoxels = 64 * kTileVoxels;
constexpr int64_t kTasksPerImage = kImageVoxels / kTaskVoxels;

template <class T>
T* Allocate(AlignedBuffer* buffer, int64_t elements) {
  return reinterpret_cast<T*>(buffer->Reserve(elements * static_cast<int64_t>(sizeof(T))));
}

// Logits of a fairly sure model: a winner per voxel and others up to 16 below.
struct Scene {
  AlignedBuffer logits_buffer;
  AlignedBuffer labels_buffer;
  float* logits;
  int32_t* labels;

  Scene() {
    logits = Allocate<float>(&logits_buffer, kFloats);
    labels = Allocate<int32_t>(&labels_buffer, kImages * kImageVoxels);
    ParallelFor(kImages * kClasses, 0, [this](int64_t item, int) { FillPlane(item); });
    ParallelFor(kImages, 0, [this](int64_t item, int) { FillLabels(item); });
  }

  void FillPlane(int64_t plane) {
    const Rng rng(1, static_cast<uint64_t>(plane));
    for (int64_t v = 0; v < kImageVoxels; ++v) {
      const bool wins = (v / 512 + 7) % kClasses == plane % kClasses;
      const double unit = rng.UniformAt(static_cast<uint64_t>(v));
      logits[plane * kImageVoxels + v] = static_cast<float>(wins ? 8.0 : -8.0 + 16.0 * unit * unit);
    }
  }

  void FillLabels(int64_t image) {
    const Rng rng(2, static_cast<uint64_t>(image));
    for (int64_t v = 0; v < kImageVoxels; ++v) {
      const bool wrong = rng.UniformAt(static_cast<uint64_t>(v)) < 0.1;
      const int64_t label = (v / 512 + (wrong ? 8 : 7)) % kClasses;
      labels[image * kImageVoxels + v] = static_cast<int32_t>(label);
    }
  }
};

const Scene& TheScene() {
  static const Scene scene;
  return scene;
}

// Output array of the same size, its pages touched.
float* TheOutput() {
  static AlignedBuffer buffer;
  static float* output = [] {
    float* p = Allocate<float>(&buffer, kFloats);
    ParallelFor(kImages, 0, [p](int64_t image, int) {
      std::fill_n(p + image * kImageFloats, kImageFloats, 0.0f);
    });
    return p;
  }();
  return output;
}

void ReadAll() {
  const auto* data = reinterpret_cast<const std::byte*>(TheScene().logits);
  ForEachChunk(kBytes, [data](int64_t offset, int64_t bytes) {
    benchmark::DoNotOptimize(FoldBytes(data + offset, bytes));
  });
}

void CopyAll() {
  const float* from = TheScene().logits;
  float* to = TheOutput();
  ParallelFor(kFloats / (1 << 18), 0, [from, to](int64_t item, int) {
    std::memcpy(to + item * (1 << 18), from + item * (1 << 18), sizeof(float) << 18);
  });
}

// Seconds of the median of five runs.
template <class F>
double MedianSeconds(F run) {
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    seconds.push_back(time.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[2];
}

double ReadSeconds() {
  static const double seconds = MedianSeconds(ReadAll);
  return seconds;
}
double CopySeconds() {
  static const double seconds = MedianSeconds(CopyAll);
  return seconds;
}

// Memory of one worker for one tile.
struct TileBuffers {
  AlignedBuffer buffers[6];
  PoolOutput pooled{.logits = Allocate<float>(&buffers[0], kClasses* kTileVoxels),
                    .offset = Allocate<double>(&buffers[1], kTileVoxels),
                    .decision = Allocate<uint16_t>(&buffers[2], kTileVoxels)};
  TileProbs probs{.probs = Allocate<float>(&buffers[3], kClasses* kTileVoxels),
                  .log_label = Allocate<float>(&buffers[4], kTileVoxels)};
  void* scratch = buffers[5].Reserve(PoolScratchBytes(kClasses));
};

// Pools every tile of the scene and hands it on: use(tile, buffers, index of its first float).
template <class Use>
void ForEachTile(Use use) {
  const Scene& scene = TheScene();
  ParallelFor(kImages * kTasksPerImage, 0, [&](int64_t task, int) {
    static thread_local TileBuffers buffers;
    const int64_t image = task / kTasksPerImage;
    const int64_t begin = task % kTasksPerImage * kTaskVoxels;
    for (int64_t v = begin; v < begin + kTaskVoxels; v += kTileVoxels) {
      const int64_t at = image * kImageFloats + v;
      const MemberRows rows{scene.logits + at, DType::kF32, kImageVoxels, 1};
      PoolTile({&rows, 1}, kClasses, kTileVoxels, {}, buffers.scratch, buffers.pooled);
      use(Tile{.num_classes = kClasses,
               .count = kTileVoxels,
               .first_voxel = v,
               .logits = buffers.pooled.logits,
               .offset = buffers.pooled.offset,
               .decision = buffers.pooled.decision,
               .labels = scene.labels + image * kImageVoxels + v,
               .ahead = {reinterpret_cast<const std::byte*>(scene.logits + at + kTileVoxels),
                         kImageVoxels * int64_t{sizeof(float)},
                         sizeof(float)}},
          &buffers,
          at);
    }
    FinishStreaming();
  });
}

// Runs the loop and reports the time as a multiple of one read pass and a share of the bandwidth.
template <class F>
void Measure(benchmark::State& state, double limit_seconds, const char* limit, F run) {
  double seconds = 0.0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count());
    seconds += time.count();
  }
  const double mean = seconds / static_cast<double>(state.iterations());
  state.counters["GB/s"] = static_cast<double>(kBytes) * 1e-9 / mean;
  state.counters[fmt::format("{}_passes", limit)] = mean / limit_seconds;
  state.counters[fmt::format("of_{}_bandwidth", limit)] = limit_seconds / mean;
}

void Read(benchmark::State& state) { Measure(state, ReadSeconds(), "read", ReadAll); }
void Copy(benchmark::State& state) { Measure(state, CopySeconds(), "copy", CopyAll); }

void PoolOnly(benchmark::State& state) {
  Measure(state, ReadSeconds(), "read", [] {
    ForEachTile(
        [](const Tile& tile, TileBuffers*, int64_t) { benchmark::DoNotOptimize(tile.logits[0]); });
  });
}

void TemperaturePass(benchmark::State& state) {
  Measure(state, ReadSeconds(), "read", [] {
    ForEachTile([](const Tile& tile, TileBuffers*, int64_t) {
      TemperatureSums sums;
      AddTemperatureSums(tile, 0.8, &sums);
      benchmark::DoNotOptimize(sums);
    });
  });
}

// Temperature scaling from array to array: pool, softmax, winner rule, write.
void ApplyTemperature(benchmark::State& state) {
  float* output = TheOutput();
  Measure(state, CopySeconds(), "copy", [output] {
    ForEachTile([output](const Tile& tile, TileBuffers* buffers, int64_t at) {
      SoftmaxTile(tile, 0.8, buffers->probs);
      KeepWinner(tile.decision, kClasses, buffers->probs.probs);
      StreamRows(buffers->probs.probs, kClasses, kTileVoxels, kImageVoxels, output + at);
    });
  });
}

BENCHMARK(Read)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Copy)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(PoolOnly)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(TemperaturePass)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ApplyTemperature)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace segcal

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("target", segcal::ActiveTarget());
  benchmark::AddCustomContext("threads", std::to_string(segcal::AvailableThreads()));
  benchmark::AddCustomContext("array",
                              fmt::format("{} images of {} voxels, {} classes, {:.2f} GB",
                                          segcal::kImages,
                                          segcal::kImageVoxels,
                                          segcal::kClasses,
                                          1e-9 * static_cast<double>(segcal::kBytes)));
  benchmark::RunSpecifiedBenchmarks();
}
