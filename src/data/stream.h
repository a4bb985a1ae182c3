// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/case_reader.h"
#include "data/voxel_block.h"
#include "segcal/dataset.h"

namespace segcal {

struct StreamOptions {
  int threads = 0;                    // 0: all available
  int64_t memory = int64_t{2} << 30;  // what all of this may keep resident
  std::string cache_dir;  // decoded data too large for memory goes here; empty: system's
  // What visitors keep of every voxel of a case until its end: fewer cases are open at once where
  // these would need more than half the memory.
  int64_t bytes_per_voxel = 0;
  bool shows_progress = true;  // false: polls only (core/progress.h)
  // Cases will be read several times: what was decoded is kept, in temporary files where memory is
  // full.
  bool keeps_decoded = false;
};

// A pass over the voxels of a data set in bounded memory: cases are opened as workers become free,
// cut into fixed blocks (kBlockVoxels) and closed when done. Which worker sees which block is not
// defined; see core/parallel.h.
class CaseStream {
 public:
  // Opens only the members that `poolings` use.
  CaseStream(Dataset dataset, const std::vector<Pooling>& poolings, StreamOptions options);
  ~CaseStream();

  const Dataset& dataset() const noexcept { return *dataset_; }
  int64_t num_cases() const noexcept { return static_cast<int64_t>(dataset_->cases.size()); }
  int num_workers() const noexcept { return options_.threads; }
  // What one of the passes that go on at the same time may keep resident.
  int64_t memory() const noexcept;
  const StreamOptions& options() const noexcept { return options_; }

  std::shared_ptr<const CaseReader> Open(int64_t case_index) const;

  // A stream over some of these cases. What is kept open between passes is kept for both, within
  // the memory of this one, so any number of such streams that are read one after the other stay in
  // it (ShareMemory: at the same time).
  std::unique_ptr<CaseStream> Subset(const std::vector<int64_t>& cases) const;
  // The same with half the memory, and it shows no progress: for work that passes over them many
  // times.
  std::unique_ptr<CaseStream> Part(const std::vector<int64_t>& cases) const;

  // So many passes over this stream, its subsets and parts, may from now on go on at the same time:
  // they share the memory. To be called while none does.
  void ShareMemory(int passes);

  // Calls on_block(block, case, worker) for every block, then on_case_end(case, reader) once all
  // blocks of that case are done. `stage` names the pass to the progress callback.
  using BlockVisitor = std::function<void(VoxelBlock& block, int64_t case_index, int worker)>;
  using CaseVisitor = std::function<void(int64_t case_index, const CaseReader& reader)>;
  void ForEachBlock(const std::string& stage,
                    const BlockVisitor& on_block,
                    const CaseVisitor& on_case_end = {}) const;

  // Whether a case is one of this rank's (core/ranks.h), as all are where it is alone. Cases are
  // dealt by the size of their predictions; a subset leaves them with their ranks. Ranks that share
  // work ask for the first time together.
  bool IsOwn(int64_t case_index) const;
  std::vector<int64_t> OwnCases() const;
  // ForEachBlock over this rank's cases.
  void ForEachOwnBlock(const std::string& stage,
                       const BlockVisitor& on_block,
                       const CaseVisitor& on_case_end = {}) const;

 private:
  class Kept;
  std::shared_ptr<const CaseReader> OpenReader(int64_t case_index, bool decoded_to_file) const;
  std::shared_ptr<const CaseReader> OpenInFile(int64_t case_index) const;

  int64_t KeptAs(int64_t case_index) const;

  std::shared_ptr<const Dataset> dataset_;
  StreamOptions options_;
  std::vector<int64_t> members_;  // to open; empty: all
  std::shared_ptr<Kept> kept_;
  std::vector<int64_t> kept_as_;             // the index of every case in kept_; empty: its own
  mutable std::unique_ptr<CaseStream> own_;  // over the cases of this rank, once asked for
};

// Reads every case once and returns the data set without the cases that cannot be read; each is
// reported as "id: message".
Dataset WithoutBadCases(const Dataset& dataset,
                        const std::vector<Pooling>& poolings,
                        const StreamOptions& options,
                        std::vector<std::string>* dropped,
                        Excused excused = Excused::kUnlabelled);

}  // namespace segcal
