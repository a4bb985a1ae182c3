// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/monotone_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/throw.h"
#include "methods/shared/graph.h"
#include "optim/isotonic.h"

namespace segcal {
namespace {

constexpr int kBucketShift = 20;
constexpr uint32_t kBuckets = (0x7E000000u >> kBucketShift) + 1;

std::vector<IsotonicBlock> SmoothBlocks(const std::vector<ProbCell>& cells) {
  std::vector<IsotonicBlock> blocks;
  blocks.reserve(cells.size());
  for (const ProbCell& cell : cells) {
    const auto at = static_cast<int64_t>(blocks.size());
    blocks.push_back({.first = at,
                      .last = at,
                      .sum = static_cast<double>(cell.hits),
                      .weight = static_cast<double>(cell.count)});
  }
  return blocks;
}

std::vector<float> ReadFloats(JsonObject* object, const std::string& key) {
  std::vector<float> floats;
  for (const double value : object->Numbers(key)) {
    if (!(value >= 0.0 && value <= 1.0) ||
        static_cast<double>(static_cast<float>(value)) != value) {
      Throw(ErrorCode::kBadData,
            "{}: {}[{}] is {}, a float32 value in [0, 1] is required",
            object->where(),
            key,
            floats.size(),
            value);
    }
    floats.push_back(static_cast<float>(value));
  }
  return floats;
}

// Finite also across the smallest gaps.
float SlopeTo(float gap, double rise) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::min(rise / static_cast<double>(gap), kLargest));
}

}  // namespace

MonotoneMap::MonotoneMap() : lower_{0.0f}, upper_{1.0f}, values_{0.5} { Index(); }

MonotoneMap::MonotoneMap(const std::vector<ProbCell>& cells, double smoothing) {
  for (const IsotonicBlock& block :
       PoolSmoothed(PoolAdjacentViolators(SmoothBlocks(cells)), smoothing)) {
    lower_.push_back(cells[static_cast<size_t>(block.first)].lower);
    upper_.push_back(cells[static_cast<size_t>(block.last)].upper);
    values_.push_back(block.Mean(smoothing));
  }
  Index();
}

void MonotoneMap::Index() {
  first_.resize(kBuckets + 1);
  size_t block = 0;
  for (uint32_t bucket = 0; bucket <= kBuckets; ++bucket) {
    while (block < lower_.size() && ProbKey(lower_[block]) >> kBucketShift < bucket) ++block;
    first_[bucket] = static_cast<int32_t>(block);
  }
}

double MonotoneMap::At(float p) const noexcept {
  const uint32_t bucket = ProbKey(p) >> kBucketShift;
  const auto begin = lower_.begin();
  // The first block that starts above p.
  const auto above = static_cast<size_t>(
      std::upper_bound(begin + first_[bucket], begin + first_[bucket + 1], p) - begin);
  if (above == 0) return values_.front();
  const size_t at = above - 1;
  if (p <= upper_[at] || above == values_.size()) return values_[at];
  const double gap = static_cast<double>(lower_[above]) - static_cast<double>(upper_[at]);
  const double share = (static_cast<double>(p) - static_cast<double>(upper_[at])) / gap;
  return std::min(values_[at] + share * (values_[above] - values_[at]), values_[above]);
}

double MonotoneMap::SmallestRise() const noexcept {
  double smallest = values_.size() > 1 ? INFINITY : 0.0;
  for (size_t i = 1; i < values_.size(); ++i) {
    smallest = std::min(smallest, values_[i] - values_[i - 1]);
  }
  return smallest;
}

// From the end of the block that begins below x: its value, and the line to the next one, which is
// flat behind the last.
std::string MonotoneMap::AddToGraph(const std::vector<MonotoneMap>& maps,
                                    const std::string& x,
                                    OnnxBuilder* g) {
  GraphTable lowers{.keys = {}, .count_equal = true};
  std::vector<std::vector<float>> uppers, values, slopes, nexts;
  for (const MonotoneMap& map : maps) {
    lowers.keys.push_back(map.lower_);
    uppers.push_back(map.upper_);
    values.emplace_back(map.values_.begin(), map.values_.end());
    slopes.emplace_back(map.values_.size(), 0.0f);
    nexts.emplace_back(values.back());
    for (size_t k = 0; k + 1 < map.values_.size(); ++k) {
      slopes.back()[k] =
          SlopeTo(map.lower_[k + 1] - map.upper_[k], map.values_[k + 1] - map.values_[k]);
      nexts.back()[k] = values.back()[k + 1];
    }
  }
  GraphSearch search(lowers, x, g);
  const std::string beyond =
      g->Op("Max", {g->Op("Sub", {x, search.AtLastBelow(uppers)}), g->Scalar(0.0)});
  const std::string rise = g->Op("Mul", {beyond, search.AtLastBelow(slopes)});
  const std::string line = g->Op("Add", {search.AtLastBelow(values), rise});
  return g->Op("Min", {line, search.AtLastBelow(nexts)});
}

Json MonotoneMap::ToJson() const {
  const auto doubles = [](const std::vector<float>& floats) {
    return std::vector<double>(floats.begin(), floats.end());
  };
  return {{"lower", doubles(lower_)}, {"upper", doubles(upper_)}, {"values", values_}};
}

MonotoneMap MonotoneMap::FromJson(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  MonotoneMap map;
  map.lower_ = ReadFloats(&object, "lower");
  map.upper_ = ReadFloats(&object, "upper");
  map.values_ = object.Numbers("values");
  object.Finish();
  const size_t n = map.values_.size();
  if (n == 0 || map.lower_.size() != n || map.upper_.size() != n) {
    Throw(ErrorCode::kBadData,
          "{}: {} lower, {} upper and {} values, at least one and as many of each are required",
          where,
          map.lower_.size(),
          map.upper_.size(),
          n);
  }
  for (size_t i = 0; i < n; ++i) {
    const bool apart = i == 0 || map.upper_[i - 1] < map.lower_[i];
    if (!(map.lower_[i] <= map.upper_[i]) || !apart) {
      Throw(ErrorCode::kBadData,
            "{}: block {} is [{}, {}], ascending blocks that do not touch are required",
            where,
            i,
            map.lower_[i],
            map.upper_[i]);
    }
    const double least = i == 0 ? 0.0 : map.values_[i - 1];
    if (!(map.values_[i] >= least && map.values_[i] <= 1.0)) {
      Throw(ErrorCode::kBadData,
            "{}: values[{}] is {}, a value in [{}, 1] is required",
            where,
            i,
            map.values_[i],
            least);
    }
  }
  map.Index();
  return map;
}

}  // namespace segcal
