// SPDX-License-Identifier: Apache-2.0
#include "spatial/distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check.h"
#include "core/parallel.h"
#include "core/throw.h"
#include "kernels/distance_lines.h"

namespace segcal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Lines side by side that are gathered together: 16 values of 32 bits fill one cache line, of which
// a single strided line would use a sixteenth.
constexpr int64_t kDistanceLines = 16;

template <class T>
constexpr T Far() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::max();
}

// Threads pay from some ten thousand voxels on.
int ThreadsFor(const VoxelGrid& grid, int num_threads) {
  return grid.num_voxels() < (1 << 15) ? 1 : num_threads;
}

int WorkersOf(int num_threads) { return num_threads > 0 ? num_threads : AvailableThreads(); }

// Along the contiguous axis the nearest source is the last one seen, from the left or the right.
void TransformRow(const uint8_t* sources, int64_t n, double spacing, double* squared) {
  const auto square = [spacing](int64_t steps) {
    const double d = spacing * static_cast<double>(steps);
    return d * d;
  };
  int64_t last = -1;
  for (int64_t x = 0; x < n; ++x) {
    if (sources[x] != 0) last = x;
    squared[x] = last < 0 ? kInfinity : square(x - last);
  }
  if (last < 0) return;
  int64_t next = last;
  for (int64_t x = last; x >= 0; --x) {
    if (sources[x] != 0) next = x;
    squared[x] = std::min(squared[x], square(next - x));
  }
}

// The lower envelope (DT3) of the parabolas f_q + (w (p - q))^2 over one line of n voxels.
class Envelope {
 public:
  Envelope(int64_t n, double w)
      : n_(n),
        spacing_(w),
        steps_(static_cast<size_t>(n)),
        sites_(static_cast<size_t>(n)),
        starts_(static_cast<size_t>(n)) {
    // 1 / (2 w^2 k): a product costs less than a division. What it loses cannot change a result in
    // voxels: where it moves an intersection across a voxel, both parabolas have the same value.
    for (int64_t k = 1; k < n; ++k) {
      steps_[static_cast<size_t>(k)] = 0.5 / (w * w * static_cast<double>(k));
    }
  }

  // squared_p = min_q f_q + (w (p - q))^2; false, with nothing written, if every f is infinite.
  bool Lower(const double* f, double* squared) {
    Build(f);
    if (count_ == 0) return false;
    for (int64_t k = 0; k < count_; ++k) {
      const int64_t q = sites_[static_cast<size_t>(k)];
      const int64_t begin = starts_[static_cast<size_t>(k)];
      const int64_t end = k + 1 < count_ ? starts_[static_cast<size_t>(k + 1)] : n_;
      for (int64_t p = begin; p < end; ++p) {
        const double d = spacing_ * static_cast<double>(p - q);
        squared[p] = f[q] + d * d;
      }
    }
    return true;
  }

 private:
  // Sites from left to right; each is the lowest from its start up to the next one's start.
  void Build(const double* f) {
    count_ = 0;
    for (int64_t q = 0; q < n_; ++q) {
      if (f[q] == kInfinity) continue;
      int64_t start = 0;
      while (count_ > 0) {
        const auto top = static_cast<size_t>(count_ - 1);
        start = FirstBelow(f, q, sites_[top]);
        if (start > starts_[top]) break;
        --count_;
        start = 0;
      }
      if (start >= n_) continue;
      sites_[static_cast<size_t>(count_)] = q;
      starts_[static_cast<size_t>(count_)] = start;
      ++count_;
    }
  }

  // The first voxel where the parabola of q lies below that of v < q (DT4).
  int64_t FirstBelow(const double* f, int64_t q, int64_t v) const {
    const double cross =
        (f[q] - f[v]) * steps_[static_cast<size_t>(q - v)] + 0.5 * static_cast<double>(q + v);
    if (cross >= static_cast<double>(n_)) return n_;
    if (cross < 0.0) return 0;
    return static_cast<int64_t>(cross) + 1;
  }

  int64_t n_;
  double spacing_;
  std::vector<double> steps_;
  std::vector<int64_t> sites_;
  std::vector<int64_t> starts_;
  int64_t count_ = 0;
};

// A worker's memory: kDistanceLines lines before and after, and their envelope. Lines lie a bit
// more than their length apart: at a power of two they would evict each other.
struct LineWorker {
  LineWorker(int64_t n, double spacing)
      : pitch(n + 8),
        before(static_cast<size_t>(kDistanceLines * pitch)),
        after(before.size()),
        envelope(n, spacing) {}

  int64_t pitch;
  std::vector<double> before;
  std::vector<double> after;
  Envelope envelope;
};

// Transforms `lines` adjacent lines of n voxels `stride` apart, the first of which begins at `at`.
template <class T>
void TransformLines(T* at, int64_t lines, int64_t n, int64_t stride, LineWorker* worker) {
  double* before = worker->before.data();
  double* after = worker->after.data();
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t i = 0; i < lines; ++i) {
      const T value = at[p * stride + i];
      before[i * worker->pitch + p] = value == Far<T>() ? kInfinity : static_cast<double>(value);
    }
  }
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t first = i * worker->pitch;
    // Without a source in reach, nothing changes.
    if (!worker->envelope.Lower(before + first, after + first))
      std::copy_n(before + first, n, after + first);
  }
  // All lines at a time, as they lie in memory.
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t i = 0; i < lines; ++i) {
      const double value = after[i * worker->pitch + p];
      at[p * stride + i] = value == kInfinity ? Far<T>() : static_cast<T>(value);
    }
  }
}

// One axis but the last, in place (DT2).
template <class T>
void TransformAxis(
    const VoxelGrid& grid, size_t axis, double spacing, int num_threads, std::vector<T>* squared) {
  const int64_t n = grid.size[axis];
  if (n == 1) return;
  const int64_t stride = grid.stride(axis);
  const int64_t blocks = (stride + kDistanceLines - 1) / kDistanceLines;
  const int64_t outer = grid.num_voxels() / (n * stride);
  std::vector<LineWorker> workers(static_cast<size_t>(WorkersOf(num_threads)),
                                  LineWorker(n, spacing));
  ParallelFor(outer * blocks, num_threads, [&](int64_t item, int worker) {
    const int64_t first = item % blocks * kDistanceLines;
    T* at = squared->data() + item / blocks * n * stride + first;
    const int64_t lines = std::min(kDistanceLines, stride - first);
    TransformLines(at, lines, n, stride, &workers[static_cast<size_t>(worker)]);
  });
}

std::vector<double> TransformLengths(const VoxelGrid& grid,
                                     std::span<const uint8_t> sources,
                                     int num_threads) {
  std::vector<double> squared(sources.size());
  const int64_t row = grid.size[2];
  ParallelFor(grid.size[0] * grid.size[1], num_threads, [&](int64_t item, int) {
    TransformRow(sources.data() + item * row, row, grid.spacing[2], squared.data() + item * row);
  });
  TransformAxis(grid, 1, grid.spacing[1], num_threads, &squared);
  TransformAxis(grid, 0, grid.spacing[0], num_threads, &squared);
  return squared;
}

// Axis 1 first, as many columns side by side as vectors have lanes.
void ScanAllColumns(const VoxelGrid& grid,
                    std::span<const uint8_t> sources,
                    int num_threads,
                    std::vector<int32_t>* squared) {
  constexpr int64_t kColumns = 256;
  const int64_t plane = grid.stride(0);
  const int64_t width = grid.size[2];
  const int64_t strips = (width + kColumns - 1) / kColumns;
  ParallelFor(grid.size[0] * strips, num_threads, [&](int64_t item, int) {
    const int64_t x = item % strips * kColumns;
    const int64_t first = item / strips * plane + x;
    ScanColumns(sources.data() + first,
                std::min(kColumns, width - x),
                grid.size[1],
                width,
                reinterpret_cast<uint32_t*>(squared->data() + first));
  });
}

// A worker's memory for rows in voxels.
struct RowWorker {
  explicit RowWorker(int64_t n)
      : row(static_cast<size_t>(n + 2 * kRowMargin), kFarSquared),
        nearest(static_cast<size_t>(n + 64)),
        lines(n, 1.0) {}

  std::vector<uint32_t> row;
  std::vector<uint32_t> nearest;
  LineWorker lines;
};

// The row at `at`, of what ScanColumns has found: by looking to both sides where sources are near,
// which most are, else by the envelope.
void TransformColumnRow(int64_t n, int32_t* at, RowWorker* worker) {
  uint32_t* row = worker->row.data() + kRowMargin;
  std::memcpy(row, at, static_cast<size_t>(n) * sizeof(*row));
  if (NearestInRow(row, n, worker->nearest.data())) {
    std::memcpy(at, worker->nearest.data(), static_cast<size_t>(n) * sizeof(*at));
    return;
  }
  std::transform(row, row + n, at, [](uint32_t squared) {
    return squared == kFarSquared ? kNoSource : static_cast<int32_t>(squared);
  });
  TransformLines(at, 1, n, 1, &worker->lines);
}

std::vector<int32_t> TransformVoxels(const VoxelGrid& grid,
                                     std::span<const uint8_t> sources,
                                     int num_threads) {
  std::vector<int32_t> squared(sources.size());
  ScanAllColumns(grid, sources, num_threads, &squared);
  constexpr int64_t kRows = 16;
  const int64_t n = grid.size[2];
  const int64_t rows = grid.size[0] * grid.size[1];
  std::vector<RowWorker> workers(static_cast<size_t>(WorkersOf(num_threads)), RowWorker(n));
  ParallelFor((rows + kRows - 1) / kRows, num_threads, [&](int64_t item, int worker) {
    for (int64_t r = item * kRows; r < std::min(rows, (item + 1) * kRows); ++r)
      TransformColumnRow(n, squared.data() + r * n, &workers[static_cast<size_t>(worker)]);
  });
  TransformAxis(grid, 0, 1.0, num_threads, &squared);
  return squared;
}

}  // namespace

std::vector<int32_t> SquaredVoxelDistances(const VoxelGrid& grid,
                                           std::span<const uint8_t> sources,
                                           int num_threads) {
  double largest = 0.0;
  for (const int64_t n : grid.size)
    largest += static_cast<double>(n - 1) * static_cast<double>(n - 1);
  if (largest >= static_cast<double>(kNoSource)) {
    Throw(ErrorCode::kUnsupported,
          "distances: the image has {} x {} x {} voxels; squared distances must be below 2^31",
          grid.size[0],
          grid.size[1],
          grid.size[2]);
  }
  SEGCAL_DCHECK(static_cast<int64_t>(sources.size()) == grid.num_voxels());
  return TransformVoxels(grid, sources, ThreadsFor(grid, num_threads));
}

std::vector<double> SquaredDistances(const VoxelGrid& grid,
                                     std::span<const uint8_t> sources,
                                     int num_threads) {
  SEGCAL_DCHECK(static_cast<int64_t>(sources.size()) == grid.num_voxels());
  return TransformLengths(grid, sources, ThreadsFor(grid, num_threads));
}

}  // namespace segcal
