// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/aligned.h"
#include "data/voxel_block.h"
#include "formats/array.h"
#include "methods/shared/calibrator.h"
#include "segcal/dtype.h"

namespace segcal {

// A tile, what was emitted for it, and by what.
struct EmittedTile {
  const Tile& tile;
  const TileProbs& probs;
  const BoundCalibrator& calibrator;
};

// What `apply` can write per voxel, one line of the table in outputs.cc each.
struct OutputKind {
  const char* name;
  const char* summary;
  bool per_class;  // (C, spatial...), else (spatial...)
  bool needs_labels;
  bool whole_numbers;  // class indices: 8 or 16 bits; else the float type asked for
  // The value that becomes the largest whole number, white in a 16-bit PNG, where the format has no
  // floats, given the number of classes; null: it needs floats.
  double (*full_scale)(int64_t num_classes);
  // Values of a tile, [kTileVoxels]; null: the emitted probabilities themselves.
  void (*fill)(const EmittedTile& emitted, float* out);
};

const std::vector<OutputKind>& OutputKinds();
const OutputKind& FindOutputKind(const std::string& name);

// Throws where temperatures are wanted and the calibrator, bound to this case, has none.
void CheckTemperature(const std::vector<const OutputKind*>& kinds,
                      const CaseReader& reader,
                      const Pooling& pooling,
                      const BoundCalibrator& calibrator,
                      const std::string& pipeline);

// Memory of one worker for RenderTile.
struct TileScratch {
  AlignedBuffer values;     // float
  AlignedBuffer converted;  // in the type that is written
};

// The values of a tile in the type they are written in, [channels][kTileVoxels], without a copy
// where they are there already. Whole numbers are multiplied by `scale` first. Where the decision
// is kept, it is in float16, too.
const std::byte* RenderTile(const OutputKind& kind,
                            DType dtype,
                            double scale,
                            const EmittedTile& emitted,
                            bool keep_decision,
                            TileScratch* scratch);

// One kind of output and how its files look.
struct PlannedOutput {
  const OutputKind* kind = nullptr;
  const FormatInfo* format = nullptr;
  std::string folder;
  std::string extension;  // with the dot
};

// The file for one case.
std::string OutputPath(const PlannedOutput& planned, const std::string& id);

// What all outputs of a call share.
struct OutputOptions {
  DType dtype = DType::kF32;  // of everything but labels
  bool compress = false;      // deflate archives
  int64_t memory = 0;         // what each may keep until it is encoded
  std::string cache_dir;
  int threads = 1;  // that may encode
};

// One output array of one case while it is being written; blocks arrive from any worker.
class CaseOutput {
 public:
  // `reference` is a file whose geometry is taken over, or empty.
  CaseOutput(const PlannedOutput& planned,
             const CaseReader& reader,
             const std::string& reference,
             const OutputOptions& options);

  const std::string& path() const noexcept { return path_; }
  void Commit() { writer_->Commit(); }

  // A block being filled by one worker.
  struct Scratch {
    TileScratch tile;
    AlignedBuffer block;  // [channels][kBlockVoxels] of the file's type
  };
  void AddTile(const EmittedTile& emitted,
               bool keep_decision,
               int64_t index,
               Scratch* scratch) const;
  void WriteBlock(const VoxelBlock& block, Scratch* scratch) const;

 private:
  std::string path_;
  const OutputKind& kind_;
  int64_t channels_;
  int64_t num_voxels_;
  DType dtype_;
  double scale_ = 1.0;  // applied before rounding to whole numbers
  std::unique_ptr<ArrayWriter> writer_;
};

}  // namespace segcal
