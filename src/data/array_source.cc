// SPDX-License-Identifier: Apache-2.0
#include "data/array_source.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/throw.h"
#include "formats/composed.h"

namespace segcal {
namespace {

// Far more than any machine has; sums of a few such numbers do not overflow.
constexpr int64_t kFarthest = int64_t{1} << 56;

// What a file of a batch or of one class says is of more, or of less, than the array of the case.
OpenOptions ForFile(const ArraySource& source, const OpenOptions& open) {
  if (!open.check || (!source.item() && source.class_paths().empty())) return open;
  OpenOptions options = open;
  const std::optional<int64_t> item = source.item();
  const auto classes = std::ssize(source.class_paths());
  options.check = [check = open.check, item, classes](const std::string& name, ArrayInfo info) {
    if (!item) {
      info.shape.insert(info.shape.begin(), classes);
      return check(name, info);
    }
    if (info.shape.size() < 2) return;  // no batch, which is told where the item is taken
    info.shape.erase(info.shape.begin());
    check(fmt::format("{}[{}]", name, *item), info);
  };
  return options;
}

void CheckExtents(const ArrayView& view, const std::string& name) {
  int64_t elements = 1;  // as if no axis were empty: strides of the others count
  for (const int64_t extent : view.shape) {
    if (extent >= 0 && !__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) &&
        elements < kFarthest)
      continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: shape ({}); extents of at least 0 that fit into memory are required",
          name,
          fmt::join(view.shape, ", "));
  }
}

void CheckStrides(const ArrayView& view, const std::string& name) {
  if (view.strides.empty()) return;
  if (view.strides.size() != view.shape.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} strides for {} axes; one for each axis, or none, is required",
          name,
          view.strides.size(),
          view.shape.size());
  }
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    int64_t reach = 0;
    const int64_t steps = view.shape[axis] > 0 ? view.shape[axis] - 1 : 0;
    if (!__builtin_mul_overflow(steps, view.strides[axis], &reach) && reach < kFarthest &&
        reach > -kFarthest)
      continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: stride {} over {} elements reaches beyond any memory",
          name,
          view.strides[axis],
          view.shape[axis]);
  }
}

}  // namespace

std::string FullPath(const Dataset& dataset, const ArraySource& source) {
  return (std::filesystem::path(dataset.folder) / source.path()).string();
}

std::vector<std::string> FullPaths(const Dataset& dataset, const ArraySource& source) {
  std::vector<std::string> paths;
  for (const std::string& path : source.class_paths())
    paths.push_back((std::filesystem::path(dataset.folder) / path).string());
  if (paths.empty() && !source.path().empty()) paths.push_back(FullPath(dataset, source));
  return paths;
}

ArraySource RebaseSource(const Dataset& dataset,
                         const ArraySource& source,
                         const std::string& folder) {
  if (source.empty() || source.in_memory()) return source;
  std::vector<std::string> paths = FullPaths(dataset, source);
  for (std::string& path : paths) path = std::filesystem::proximate(path, folder).string();
  if (!source.class_paths().empty()) return ArraySource::PerClass(std::move(paths));
  if (source.item()) return ArraySource::Item(paths.front(), *source.item());
  return ArraySource(paths.front());
}

std::unique_ptr<Array> OpenView(const ArrayView& view, const std::string& name) {
  if (view.data == nullptr)
    Throw(ErrorCode::kInvalidArgument, "{}: the view has no data (a null pointer)", name);
  if (view.shape.empty())
    Throw(ErrorCode::kInvalidArgument,
          "{}: the view has no shape, at least one axis is required",
          name);
  CheckExtents(view, name);
  CheckStrides(view, name);
  return ArrayOverMemory(
      name, {.dtype = view.dtype, .shape = view.shape, .spacing = {}}, view.data, view.strides);
}

std::unique_ptr<Array> OpenSource(const Dataset& dataset,
                                  const Case& entry,
                                  const ArraySource& source,
                                  const std::string& what,
                                  const OpenOptions& open) {
  if (source.in_memory())
    return OpenView(source.view(), fmt::format("case {}: {}", entry.id, what));
  OpenOptions options = ForFile(source, open);
  if (!source.class_paths().empty()) {
    std::vector<std::unique_ptr<Array>> classes;
    for (const std::string& path : FullPaths(dataset, source)) {
      classes.push_back(OpenArray(path, options));
      options.check = [&first = *classes.front()](const std::string& name, const ArrayInfo& info) {
        CheckAlike(first, name, info);
      };
    }
    return Stacked(std::move(classes));
  }
  std::unique_ptr<Array> array = OpenArray(FullPath(dataset, source), options);
  return source.item() ? ItemOf(std::move(array), *source.item()) : std::move(array);
}

}  // namespace segcal
