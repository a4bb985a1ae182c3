// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/case_reader.h"
#include "formats/strided.h"
#include "pipeline/outputs.h"
#include "segcal/views.h"

namespace segcal {

// One of the caller's arrays that results of a case are written to; tiles arrive from any worker.
class MemoryOutput {
 public:
  // An Error unless the span has the shape of the case and a type for such values.
  MemoryOutput(const OutputKind& kind, const ArraySpan& span, const CaseReader& reader);

  const std::string& name() const noexcept { return name_; }
  const OutputKind& kind() const noexcept { return kind_; }
  const StridedElements& elements() const noexcept { return elements_; }
  const std::byte* data() const noexcept { return data_; }

  void Write(const EmittedTile& emitted, bool keep_decision, TileScratch* scratch) const;

 private:
  bool CanStream() const noexcept;

  const OutputKind& kind_;
  std::string name_;
  DType dtype_;
  StridedElements elements_;
  SingleStride voxels_;  // of the spatial axes
  std::byte* data_;
  int64_t num_voxels_;
};

// The outputs that have data; none at all is an Error.
std::vector<MemoryOutput> OpenOutputs(const ApplyOutputs& out, const CaseReader& reader);

// Throws if the elements of an output overlap each other, those of another output or what is read.
void CheckApart(const std::vector<MemoryOutput>& outputs, const Case& entry);

}  // namespace segcal
