// SPDX-License-Identifier: Apache-2.0
#include "data/case_reader.h"

#include <algorithm>
#include <utility>

#include "core/throw.h"
#include "data/array_source.h"
#include "formats/strided.h"

namespace segcal {
namespace {

std::string FormatShape(const std::vector<int64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

// Shapes are compared without unit axes: nnU-Net writes 2-D images as (C, 1, H, W) and labels as
// (H, W).
std::vector<int64_t> Squeezed(std::vector<int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

// Whether a list of members, all of them where it is empty, has this one.
bool IsWanted(const std::vector<int64_t>& wanted, size_t member) {
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), static_cast<int64_t>(member)) != wanted.end();
}

}  // namespace

CaseReader::CaseReader(const Dataset& dataset, const Case& entry)
    : id_(entry.id),
      num_classes_(dataset.num_classes()),
      input_(dataset.input.value()),
      floor_(InputFloor(input_)),
      layout_(dataset.layout) {
  if (entry.image.empty()) return;
  open_image_ = [folder = dataset.folder, id = id_, image = entry.image] {
    return OpenSource({.folder = folder}, {.id = id}, image, "image", {});
  };
}

CaseReader::CaseReader(const Dataset& dataset,
                       const Case& entry,
                       const std::vector<int64_t>& members,
                       const OpenOptions& open)
    : CaseReader(dataset, entry) {
  std::vector<std::shared_ptr<const Array>> opened(entry.members.size());
  for (size_t m = 0; m < opened.size(); ++m) {
    if (IsWanted(members, m)) opened[m] = OpenMember(dataset, entry, m, open);
  }
  SetMembers(std::move(opened));
  SetLabels(dataset, OpenBeside(dataset, entry, entry.labels, "labels", open));
  SetMask(OpenBeside(dataset, entry, entry.mask, "mask", open));
  SetGeometry(entry);
}

CaseReader::CaseReader(const Dataset& dataset,
                       const Case& entry,
                       std::vector<std::shared_ptr<const Array>> members,
                       std::unique_ptr<Array> labels,
                       std::unique_ptr<Array> mask)
    : CaseReader(dataset, entry) {
  SetMembers(std::move(members));
  SetLabels(dataset, std::move(labels));
  SetMask(std::move(mask));
  SetGeometry(entry);
}

// Arrays are checked by what their files say, before any of them is decoded.
std::unique_ptr<Array> CaseReader::OpenMember(const Dataset& dataset,
                                              const Case& entry,
                                              size_t index,
                                              const OpenOptions& open) {
  OpenOptions options = open;
  options.key = dataset.key;
  options.check = [this](const std::string& name, const ArrayInfo& info) {
    CheckMember(name, info);
  };
  return OpenSource(dataset, entry, entry.members[index], fmt::format("member {}", index), options);
}

std::unique_ptr<Array> CaseReader::OpenBeside(const Dataset& dataset,
                                              const Case& entry,
                                              const ArraySource& source,
                                              const char* what,
                                              const OpenOptions& open) const {
  if (source.empty()) return nullptr;
  OpenOptions options = open;
  options.check = [&](const std::string& name, const ArrayInfo& info) {
    CheckSpatial(name, info, what);
  };
  return OpenSource(dataset, entry, source, what, options);
}

void CaseReader::SetMembers(std::vector<std::shared_ptr<const Array>> members) {
  members_ = std::move(members);
  for (const auto& member : members_) {
    if (member) CheckMember(member->name(), member->info());
    direct_rows_.push_back(member ? FindRows(*member) : MemberRows{});
  }
  if (!shape_.empty()) return;
  Throw(ErrorCode::kInvalidArgument,
        "case {}: none of its {} members is asked for",
        id_,
        members_.size());
}

void CaseReader::SetLabels(const Dataset& dataset, std::unique_ptr<Array> labels) {
  if (!labels) return;
  CheckSpatial(labels->name(), labels->info(), "labels");
  labels_ = std::make_unique<LabelReader>(dataset, std::move(labels));
}

void CaseReader::SetMask(std::unique_ptr<Array> mask) {
  if (mask) CheckSpatial(mask->name(), mask->info(), "mask");
  mask_ = std::move(mask);
}

void CaseReader::SetGeometry(const Case& entry) {
  SetSpacing(entry);
  if (const Array* source = GeometrySource()) geometry_file_ = source->name();
}

std::unique_ptr<Array> CaseReader::OpenImage() const {
  return open_image_ ? open_image_() : nullptr;
}

// (C, voxels) in memory, where the spatial axes can be walked with one stride.
MemberRows CaseReader::FindRows(const Array& array) const {
  const ArrayInfo& info = array.info();
  MemoryLayout layout = array.layout();
  if (layout.data == nullptr) return {};
  std::vector<int64_t> shape = info.shape;
  if (channels_last()) {
    std::rotate(shape.begin(), shape.end() - 1, shape.end());
    std::rotate(layout.strides.begin(), layout.strides.end() - 1, layout.strides.end());
  }
  const SingleStride voxels = CollapseAxes(shape, layout.strides, 1);
  if (!voxels.exists) return {};
  return {.data = layout.data,
          .dtype = info.dtype,
          .class_stride = layout.strides[0],
          .voxel_stride = voxels.stride};
}

void CaseReader::CheckMember(const std::string& name, const ArrayInfo& info) {
  if (!IsFloat(info.dtype)) {
    Throw(ErrorCode::kBadData,
          "{}: {} values; predictions must be float16, bfloat16, float32 or float64",
          name,
          Name(info.dtype));
  }
  if (info.shape.size() < 2 || info.shape.size() > 4) {
    Throw(ErrorCode::kBadData,
          "{}: shape {}; predictions must be (classes, spatial...) with one to three spatial axes",
          name,
          FormatShape(info.shape));
  }
  const int64_t channels = channels_last() ? info.shape.back() : info.shape.front();
  if (channels != num_classes_) {
    const int64_t other = channels_last() ? info.shape.front() : info.shape.back();
    const std::string hint =
        other == num_classes_
            ? fmt::format(" (set \"layout\": \"{}\" in the data set file?)",
                          Name(channels_last() ? Layout::kChannelsFirst : Layout::kChannelsLast))
            : "";
    Throw(ErrorCode::kBadData,
          "{}: {} channels in shape {}, the data set has {} classes{}",
          name,
          channels,
          FormatShape(info.shape),
          num_classes_,
          hint);
  }
  std::vector<int64_t> spatial = info.shape;
  spatial.erase(channels_last() ? spatial.end() - 1 : spatial.begin());
  if (shape_.empty()) {
    shape_ = spatial;
    num_voxels_ = info.NumElements() / num_classes_;
    if (num_voxels_ == 0)
      Throw(ErrorCode::kBadData, "{}: no voxels in shape {}", name, FormatShape(info.shape));
  } else if (spatial != shape_) {
    Throw(ErrorCode::kBadData,
          "{}: spatial shape {}, the case's first member has {}",
          name,
          FormatShape(spatial),
          FormatShape(shape_));
  }
}

void CaseReader::CheckSpatial(const std::string& name,
                              const ArrayInfo& info,
                              const char* what) const {
  if (Squeezed(info.shape) == Squeezed(shape_)) return;
  Throw(ErrorCode::kBadData,
        "{}: {} of shape {}, the prediction has {}",
        name,
        what,
        FormatShape(info.shape),
        FormatShape(shape_));
}

void CaseReader::SetSpacing(const Case& entry) {
  if (!entry.spacing.empty()) {
    if (entry.spacing.size() != shape_.size()) {
      Throw(ErrorCode::kBadData,
            "case {}: spacing has {} numbers, the prediction {} spatial axes",
            id_,
            entry.spacing.size(),
            shape_.size());
    }
    spacing_ = entry.spacing;
    return;
  }
  spacing_.assign(shape_.size(), 1.0);
  const Array* source = GeometrySource();
  if (source != nullptr) spacing_ = source->info().spacing;
}

// The labels, or the first member, if their format knows a spacing for every axis.
const Array* CaseReader::GeometrySource() const {
  const auto knows = [&](const Array* array) {
    return array != nullptr && array->info().spacing.size() == shape_.size();
  };
  if (labels_ && knows(&labels_->array())) return &labels_->array();
  for (const auto& member : members_) {
    if (knows(member.get())) return member.get();
  }
  return nullptr;
}

std::string CaseReader::DescribeVoxel(int64_t voxel) const {
  std::vector<int64_t> index(shape_.size());
  for (size_t axis = shape_.size(); axis-- > 0;) {
    index[axis] = voxel % shape_[axis];
    voxel /= shape_[axis];
  }
  return fmt::format("voxel {}", FormatShape(index));
}

}  // namespace segcal
