// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/throw.h"
#include "data/array_source.h"
#include "data/index_files.h"

namespace segcal {
namespace {

int64_t NumItems(const Dataset& dataset, const ArraySource& source, const std::string& key) {
  const std::string path = FullPath(dataset, source);
  if (!source.class_paths().empty())
    Throw(ErrorCode::kInvalidArgument, "{}: a batch with a file per class is not read", path);
  return OpenArray(path, {.key = key, .cache_dir = {}})->info().shape.front();
}

// The number of items, which all files of a case must have.
int64_t CountItems(const Dataset& dataset, const Case& entry) {
  const int64_t items = NumItems(dataset, entry.members.front(), dataset.key);
  const auto check = [&](const ArraySource& source, const std::string& key) {
    const int64_t found = source.empty() ? items : NumItems(dataset, source, key);
    if (found == items) return;
    Throw(ErrorCode::kBadData,
          "{}: {} items along the first axis, {} has {}",
          FullPath(dataset, source),
          found,
          FullPath(dataset, entry.members.front()),
          items);
  };
  for (const ArraySource& member : entry.members) check(member, dataset.key);
  for (const ArraySource* source : {&entry.labels, &entry.image, &entry.mask}) check(*source, "");
  return items;
}

Case ItemCase(const Case& entry, int64_t item) {
  Case result = entry;
  result.id = entry.id.empty() ? std::to_string(item) : fmt::format("{}_{}", entry.id, item);
  const auto take = [&](ArraySource* source) {
    if (!source->empty()) *source = ArraySource::Item(source->path(), item);
  };
  for (ArraySource& member : result.members) take(&member);
  for (ArraySource* source : {&result.labels, &result.image, &result.mask}) take(source);
  return result;
}

}  // namespace

void SplitBatches(Dataset* dataset) {
  std::vector<Case> items;
  for (const Case& entry : dataset->cases) {
    const int64_t count = CountItems(*dataset, entry);
    for (int64_t item = 0; item < count; ++item) items.push_back(ItemCase(entry, item));
  }
  if (items.empty())
    Throw(ErrorCode::kBadData,
          "{}: no items along the first axis",
          FullPath(*dataset, dataset->cases.front().members.front()));
  dataset->cases = std::move(items);
}

}  // namespace segcal
