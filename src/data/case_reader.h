// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/labels.h"
#include "data/pooling.h"
#include "formats/array.h"
#include "segcal/dataset.h"

namespace segcal {

// An opened case: its files are there, have the right type and fit each other. Reading is safe from
// several threads.
class CaseReader {
 public:
  // Opens the given members (all if empty), the labels and the mask.
  CaseReader(const Dataset& dataset,
             const Case& entry,
             const std::vector<int64_t>& members,
             const OpenOptions& open);

  // The same over arrays that are open already; labels and mask may be null.
  CaseReader(const Dataset& dataset,
             const Case& entry,
             std::vector<std::shared_ptr<const Array>> members,
             std::unique_ptr<Array> labels,
             std::unique_ptr<Array> mask);

  const std::string& id() const noexcept { return id_; }
  int64_t num_classes() const noexcept { return num_classes_; }
  int64_t num_voxels() const noexcept { return num_voxels_; }
  const std::vector<int64_t>& shape() const noexcept { return shape_; }     // spatial
  const std::vector<double>& spacing() const noexcept { return spacing_; }  // as shape()
  bool has_labels() const noexcept { return labels_ != nullptr; }
  // A file that knows the orientation and spacing of the case (NIfTI labels or predictions), or
  // empty.
  const std::string& geometry_file() const noexcept { return geometry_file_; }
  // The input image of the case; null where it has none.
  std::unique_ptr<Array> OpenImage() const;
  InputKind input() const noexcept { return input_; }
  double floor() const noexcept { return floor_; }
  bool channels_last() const noexcept { return layout_ == Layout::kChannelsLast; }

  // Null where the member was not opened.
  const Array* member(int64_t index) const noexcept {
    return members_[static_cast<size_t>(index)].get();
  }
  int64_t num_members() const noexcept { return static_cast<int64_t>(members_.size()); }
  // All values of a member where they are in memory; else without data.
  const MemberRows& direct_rows(int64_t index) const noexcept {
    return direct_rows_[static_cast<size_t>(index)];
  }
  const LabelReader* labels() const noexcept { return labels_.get(); }
  const Array* mask() const noexcept { return mask_.get(); }

  // "(y, x) = (3, 17)" for messages.
  std::string DescribeVoxel(int64_t voxel) const;

 private:
  CaseReader(const Dataset& dataset, const Case& entry);  // nothing is open yet

  std::unique_ptr<Array> OpenMember(const Dataset& dataset,
                                    const Case& entry,
                                    size_t index,
                                    const OpenOptions& open);
  std::unique_ptr<Array> OpenBeside(const Dataset& dataset,
                                    const Case& entry,
                                    const ArraySource& source,
                                    const char* what,
                                    const OpenOptions& open) const;
  void SetMembers(std::vector<std::shared_ptr<const Array>> members);
  void SetLabels(const Dataset& dataset, std::unique_ptr<Array> labels);
  void SetMask(std::unique_ptr<Array> mask);
  void SetGeometry(const Case& entry);
  // The first member gives the case its shape.
  void CheckMember(const std::string& name, const ArrayInfo& info);
  void CheckSpatial(const std::string& name, const ArrayInfo& info, const char* what) const;
  MemberRows FindRows(const Array& array) const;
  void SetSpacing(const Case& entry);
  const Array* GeometrySource() const;

  std::string id_;
  std::string geometry_file_;
  std::function<std::unique_ptr<Array>()> open_image_;  // empty: none
  int64_t num_classes_ = 0;
  int64_t num_voxels_ = 0;
  std::vector<int64_t> shape_;
  std::vector<double> spacing_;
  InputKind input_ = InputKind::kLogits;
  double floor_ = 0.0;
  Layout layout_ = Layout::kChannelsFirst;
  std::vector<std::shared_ptr<const Array>> members_;
  std::vector<MemberRows> direct_rows_;
  std::unique_ptr<LabelReader> labels_;
  std::unique_ptr<Array> mask_;
};

}  // namespace segcal
