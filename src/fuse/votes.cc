// SPDX-License-Identifier: Apache-2.0
#include "fuse/votes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/throw.h"
#include "data/array_source.h"
#include "data/labels.h"
#include "formats/element.h"
#include "fuse/method.h"
#include "kernels/tile.h"
#include "pipeline/compatible.h"

namespace segcal {
namespace {

OpenOptions OpenWithin(const RunOptions& run, const std::string& key) {
  return {.key = key, .memory_limit = run.memory / 8, .cache_dir = run.cache_dir};
}

// A map of the probability of "right" as the rows of both classes.
class RightProbability final : public Array {
 public:
  explicit RightProbability(std::unique_ptr<Array> map)
      : Array(map->name(), DescribeRows(map->info())), map_(std::move(map)) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    const int64_t voxels = map_->info().NumElements();
    const auto size = static_cast<size_t>(ElementSize(map_->info().dtype));
    std::vector<std::byte> bytes;
    auto* values = static_cast<float*>(out);
    while (count > 0) {
      const bool right = first >= voxels;
      const int64_t at = right ? first - voxels : first;
      const int64_t run = std::min(count, voxels - at);
      bytes.resize(static_cast<size_t>(run) * size);
      map_->Read(at, run, bytes.data());
      for (int64_t i = 0; i < run; ++i) {
        const double p =
            LoadElement(map_->info().dtype, bytes.data() + static_cast<size_t>(i) * size);
        *values++ = static_cast<float>(right ? p : 1.0 - p);
      }
      first += run;
      count -= run;
    }
  }
  const void* Direct(int64_t) const noexcept override { return nullptr; }
  int64_t resident_bytes() const noexcept override { return map_->resident_bytes(); }

 private:
  static ArrayInfo DescribeRows(const ArrayInfo& map) {
    ArrayInfo info{.dtype = DType::kF32, .shape = map.shape, .spacing = map.spacing};
    info.shape.insert(info.shape.begin(), 2);
    return info;
  }

  std::unique_ptr<Array> map_;
};

// Axes that count: nnU-Net writes 2-D images as (1, H, W).
std::vector<int64_t> WithoutUnitAxes(std::vector<int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

// Of label maps, a reliability may be a map of its own: float, of the shape of the label map.
bool IsBareMap(const Dataset& dataset, const Array& member, const Array& label_map) {
  return dataset.input == InputKind::kProbs && IsFloat(member.info().dtype) &&
         WithoutUnitAxes(member.info().shape) == WithoutUnitAxes(label_map.info().shape);
}

// The data set as its members see it, of one case.
Dataset VoteDataset(const Dataset& dataset, const Case& entry) {
  Dataset votes{.name = dataset.name, .classes = VoteClasses(dataset), .input = dataset.input};
  votes.layout = dataset.layout;
  votes.folder = dataset.folder;
  votes.cases = {{.id = entry.id, .image = entry.image}};
  return votes;
}

// Takes the labels of masked voxels away.
void ApplyMask(const Array& mask, std::span<int32_t> labels) {
  std::vector<int64_t> taken(std::min<size_t>(labels.size(), size_t{1} << 16));
  for (size_t first = 0; first < labels.size(); first += taken.size()) {
    const size_t count = std::min(taken.size(), labels.size() - first);
    ReadIntegers(mask, static_cast<int64_t>(first), std::span(taken).first(count), "mask");
    for (size_t v = 0; v < count; ++v) {
      if (taken[v] == 0) labels[first + v] = kNoLabel;
    }
  }
}

std::string CandidateName(int64_t candidate) { return fmt::format("candidate {}", candidate); }

}  // namespace

bool HasLabelMaps(const Dataset& dataset) {
  return std::any_of(dataset.cases.begin(), dataset.cases.end(), [](const Case& c) {
    return !c.candidates.empty();
  });
}

std::vector<std::string> VoteClasses(const Dataset& dataset) {
  if (HasLabelMaps(dataset)) return {"wrong", "right"};
  return dataset.classes;
}

void CheckCandidates(const Dataset& dataset) {
  CheckDataset(dataset, DatasetTitle(dataset));
  if (dataset.cases.empty())
    Throw(ErrorCode::kBadData, "the data set \"{}\" has no cases", dataset.name);
  const bool maps = HasLabelMaps(dataset);
  for (const Case& entry : dataset.cases) {
    if (entry.members.size() < 2)
      Throw(ErrorCode::kBadData,
            "case {}: {} candidate, at least two are required to fuse",
            entry.id,
            entry.members.size());
    if (maps && entry.candidates.empty())
      Throw(ErrorCode::kBadData, "case {}: no label maps, other cases have some", entry.id);
  }
  if (dataset.num_classes() >= kAbstains)
    Throw(ErrorCode::kUnsupported, "{} classes, at most {}", dataset.num_classes(), kAbstains - 1);
}

CaseReader OpenVote(const Dataset& dataset,
                    const Case& entry,
                    int64_t candidate,
                    const RunOptions& run) {
  const auto at = static_cast<size_t>(candidate);
  const OpenOptions open = OpenWithin(run, dataset.key);
  std::unique_ptr<Array> member =
      OpenSource(dataset, entry, entry.members[at], CandidateName(candidate), open);
  Dataset votes = VoteDataset(dataset, entry);
  if (!entry.candidates.empty()) {
    const auto map =
        OpenSource(dataset, entry, entry.candidates[at], CandidateName(candidate), open);
    if (IsBareMap(dataset, *member, *map)) {
      member = std::make_unique<RightProbability>(std::move(member));
      votes.layout = Layout::kChannelsFirst;
    }
  }
  std::unique_ptr<Array> mask;
  if (!entry.mask.empty()) mask = OpenSource(dataset, entry, entry.mask, "mask", open);
  return CaseReader(votes, votes.cases[0], {std::move(member)}, nullptr, std::move(mask));
}

CaseGeometry FindGeometry(const Dataset& dataset,
                          const Case& entry,
                          const std::vector<int64_t>& shape,
                          const RunOptions& run) {
  CaseGeometry geometry{.spacing = entry.spacing, .file = {}};
  const auto look_at = [&](const ArraySource& source) {
    const bool whole_file = !source.empty() && !source.in_memory() && !source.item();
    if (!whole_file || !geometry.file.empty()) return;
    const auto array = OpenSource(dataset, entry, source, "geometry", OpenWithin(run, {}));
    if (array->info().spacing.size() != shape.size()) return;
    geometry.file = array->name();
    if (geometry.spacing.empty()) geometry.spacing = array->info().spacing;
  };
  look_at(entry.labels);
  for (const ArraySource& candidate : entry.candidates) look_at(candidate);
  if (geometry.spacing.empty()) geometry.spacing.assign(shape.size(), 1.0);
  if (geometry.spacing.size() != shape.size()) {
    Throw(ErrorCode::kBadData,
          "case {}: spacing has {} numbers, the candidates {} spatial axes",
          entry.id,
          geometry.spacing.size(),
          shape.size());
  }
  return geometry;
}

std::vector<int32_t> ReadTruth(const Dataset& dataset, const Case& entry, const RunOptions& run) {
  if (entry.labels.empty()) return {};
  const OpenOptions open = OpenWithin(run, {});
  const LabelReader reader(dataset, OpenSource(dataset, entry, entry.labels, "labels", open));
  std::vector<int32_t> labels(static_cast<size_t>(reader.array().info().NumElements()));
  reader.Read(0, labels);
  if (entry.mask.empty()) return labels;
  const auto mask = OpenSource(dataset, entry, entry.mask, "mask", open);
  if (mask->info().NumElements() != std::ssize(labels))
    Throw(ErrorCode::kBadData,
          "{}: {} voxels, the labels have {}",
          mask->name(),
          mask->info().NumElements(),
          labels.size());
  ApplyMask(*mask, labels);
  return labels;
}

CandidateMap::CandidateMap(const Dataset& dataset,
                           const Case& entry,
                           int64_t candidate,
                           const std::vector<int64_t>& shape,
                           const RunOptions& run) {
  auto array = OpenSource(dataset,
                          entry,
                          entry.candidates[static_cast<size_t>(candidate)],
                          CandidateName(candidate),
                          OpenWithin(run, {}));
  if (WithoutUnitAxes(array->info().shape) != WithoutUnitAxes(shape)) {
    Throw(ErrorCode::kBadData,
          "{}: shape ({}), the reliability of candidate {} of case {} has ({})",
          array->name(),
          fmt::join(array->info().shape, ", "),
          candidate,
          entry.id,
          fmt::join(shape, ", "));
  }
  labels_ = std::make_unique<LabelReader>(dataset, std::move(array));
}

void CandidateMap::Read(int64_t first, std::span<uint16_t> labels) const {
  std::vector<int32_t> classes(labels.size());
  labels_->Read(first, classes);
  std::transform(classes.begin(), classes.end(), labels.begin(), [](int32_t c) {
    return c == kNoLabel ? kAbstains : static_cast<uint16_t>(c);
  });
}

VoteTable::VoteTable(int64_t candidates, int64_t voxels, const RunOptions& run) : voxels_(voxels) {
  // Half of the memory, for all candidates: 2 bytes of label and 4 of reliability per voxel.
  const int64_t share = run.memory / 2 / (6 * candidates);
  for (int64_t i = 0; i < candidates; ++i) {
    labels_.emplace_back("labels of candidates", 2 * share, run.cache_dir);
    labels_.back().Resize(voxels * int64_t{sizeof(uint16_t)});
    reliability_.emplace_back("reliability of candidates", 4 * share, run.cache_dir);
    reliability_.back().Resize(voxels * int64_t{sizeof(float)});
  }
}

void VoteTable::WriteLabels(int64_t candidate, int64_t first, std::span<const uint16_t> labels) {
  labels_[static_cast<size_t>(candidate)].WriteAt(first * int64_t{sizeof(uint16_t)},
                                                  std::as_bytes(labels));
}

void VoteTable::WriteReliability(int64_t candidate, int64_t first, std::span<const float> values) {
  reliability_[static_cast<size_t>(candidate)].WriteAt(first * int64_t{sizeof(float)},
                                                       std::as_bytes(values));
}

void VoteTable::ReadLabels(int64_t first, int64_t count, std::vector<uint16_t>* labels) const {
  labels->resize(labels_.size() * static_cast<size_t>(count));
  for (size_t i = 0; i < labels_.size(); ++i) {
    const auto row =
        std::span(*labels).subspan(i * static_cast<size_t>(count), static_cast<size_t>(count));
    labels_[i].ReadAt(first * int64_t{sizeof(uint16_t)}, std::as_writable_bytes(row));
  }
}

void VoteTable::ReadReliability(int64_t first, int64_t count, std::vector<float>* values) const {
  values->resize(reliability_.size() * static_cast<size_t>(count));
  for (size_t i = 0; i < reliability_.size(); ++i) {
    const auto row =
        std::span(*values).subspan(i * static_cast<size_t>(count), static_cast<size_t>(count));
    reliability_[i].ReadAt(first * int64_t{sizeof(float)}, std::as_writable_bytes(row));
  }
}

}  // namespace segcal
