// SPDX-License-Identifier: Apache-2.0
// distance_bench FILE DEPTH HEIGHT WIDTH SPACING_Z SPACING_Y SPACING_X THREADS ROUNDS
//
// Squared distances to the sources in FILE (one byte per voxel) in voxels and with spacing; one
// line per round: seconds of either. bench/distance.py compares them with SciPy's.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "spatial/distance.h"

namespace {

template <class Work>
double Seconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const std::vector<uint8_t> sources(bytes.begin(), bytes.end());
  std::vector<int64_t> shape;
  std::vector<double> spacing;
  for (int i = 0; i < 3; ++i) shape.push_back(std::atoll(argv[2 + i]));
  for (int i = 0; i < 3; ++i) spacing.push_back(std::atof(argv[5 + i]));
  const segcal::VoxelGrid grid = segcal::MakeGrid(shape, spacing);
  if (static_cast<int64_t>(sources.size()) != grid.num_voxels()) return 3;
  const int threads = std::atoi(argv[8]);
  for (int round = 0; round < std::atoi(argv[9]); ++round) {
    const double voxels = Seconds([&] { segcal::SquaredVoxelDistances(grid, sources, threads); });
    const double spaced = Seconds([&] { segcal::SquaredDistances(grid, sources, threads); });
    fmt::print("{} {}\n", voxels, spaced);
  }
}
