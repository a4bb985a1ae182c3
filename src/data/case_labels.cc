// SPDX-License-Identifier: Apache-2.0
#include "data/case_labels.h"

#include <algorithm>

#include "data/voxel_block.h"

namespace segcal {

void ReadCaseLabels(const CaseReader& reader,
                    int64_t first,
                    std::span<int32_t> labels,
                    std::vector<uint8_t>* masked) {
  std::fill(labels.begin(), labels.end(), kNoLabel);
  if (reader.labels() != nullptr) reader.labels()->Read(first, labels);
  masked->clear();
  if (reader.mask() == nullptr) return;
  std::vector<int64_t> mask(labels.size());
  ReadIntegers(*reader.mask(), first, mask, "masks");
  masked->resize(mask.size());
  for (size_t v = 0; v < mask.size(); ++v) {
    (*masked)[v] = mask[v] == 0 ? 1 : 0;
    if (mask[v] == 0) labels[v] = kNoLabel;
  }
}

std::vector<int32_t> ReadAllLabels(const CaseReader& reader) {
  std::vector<int32_t> labels(static_cast<size_t>(reader.num_voxels()));
  std::vector<uint8_t> masked;
  for (int64_t first = 0; first < reader.num_voxels(); first += kBlockVoxels) {
    const int64_t count = std::min(kBlockVoxels, reader.num_voxels() - first);
    const auto block = std::span(labels).subspan(static_cast<size_t>(first));
    ReadCaseLabels(reader, first, block.first(static_cast<size_t>(count)), &masked);
  }
  return labels;
}

}  // namespace segcal
