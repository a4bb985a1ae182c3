// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/class_cells.h"

#include "data/reduce.h"
#include "kernels/softmax.h"
#include "methods/shared/emit_buffer.h"

namespace segcal {
namespace {

struct CellRow {
  std::vector<ProbCells> maps;

  void Add(const Tile& tile) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    SoftmaxTile(tile, 1.0, out);
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      ProbCells& cells = maps.size() == 1 ? maps[0] : maps[static_cast<size_t>(c)];
      const float* row = out.probs + c * kTileVoxels;
      for (int64_t v = 0; v < tile.count; ++v) {
        if (tile.labels[v] != kNoLabel) cells.Add(row[v], tile.labels[v] == c);
      }
    }
  }
  static constexpr auto SumFields() { return std::tuple(&CellRow::maps); }
};

}  // namespace

std::vector<ProbCells> CountProbs(const FitContext& context,
                                  bool per_class,
                                  int64_t cells,
                                  const std::string& stage) {
  const int64_t maps = per_class ? context.stream.dataset().num_classes() : 1;
  const CellRow zero{std::vector<ProbCells>(static_cast<size_t>(maps), ProbCells(cells / maps))};
  const auto add = [](const Tile& tile, int64_t, CellRow* totals) { totals->Add(tile); };
  return ReduceTiles(context.stream, stage, context.pooling, zero, add).maps;
}

}  // namespace segcal
