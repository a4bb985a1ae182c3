// SPDX-License-Identifier: Apache-2.0
#include "core/sums.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/exact_sum.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

struct Inner {
  int64_t count = 0;
  ExactSum sum;
  double pending = 0.0;  // not listed

  static constexpr auto SumFields() { return std::tuple(&Inner::count, &Inner::sum); }
};

struct Outer {
  bool any = false;
  std::vector<Inner> list;
  std::array<int64_t, 2> pair = {};
  std::map<int64_t, Inner> by_key;
  __int128 wide = 0;
  std::unique_ptr<ExactSum> owned = std::make_unique<ExactSum>();

  static constexpr auto SumFields() {
    using O = Outer;
    return std::tuple(&O::any, &O::list, &O::pair, &O::by_key, &O::wide, &O::owned);
  }
};

Outer MakeOuter(int64_t k) {
  Outer outer;
  outer.any = k == 2;
  outer.list.resize(3);
  outer.list[1].count = k;
  outer.list[1].sum.Add(0.1 * static_cast<double>(k));
  outer.list[1].pending = 7.0;
  outer.pair = {k, -k};
  outer.by_key[10 * k].count = 1;
  outer.by_key[5].sum.Add(1.0 / 3.0);
  outer.wide = __int128{k} << 100;
  outer.owned->Add(static_cast<double>(k));
  return outer;
}

TEST(MergeSums, AddsEveryListedMember) {
  Outer total = MakeOuter(1);
  MergeSums(MakeOuter(2), &total);
  EXPECT_TRUE(total.any);
  EXPECT_EQ(total.list[1].count, 3);
  EXPECT_DOUBLE_EQ(total.list[1].sum.value(), 0.1 + 0.2);
  EXPECT_EQ(total.list[1].pending, 7.0);
  EXPECT_EQ(total.pair, (std::array<int64_t, 2>{3, -3}));
  EXPECT_EQ(total.by_key.size(), 3u);
  EXPECT_EQ(total.by_key[20].count, 1);
  EXPECT_DOUBLE_EQ(total.by_key[5].sum.value(), 2.0 / 3.0);
  EXPECT_TRUE(total.wide == __int128{3} << 100);
  EXPECT_EQ(total.owned->value(), 3.0);
}

TEST(MergeSums, DoublesWhatIsMergedWithItself) {
  Outer total = MakeOuter(1);
  MergeSums(total, &total);
  EXPECT_EQ(total.list[1].count, 2);
  EXPECT_EQ(total.by_key[10].count, 2);
  EXPECT_EQ(total.owned->value(), 2.0);
}

TEST(MergeSums, TakesAnEmptyListForZeros) {
  std::vector<int64_t> none;
  std::vector<int64_t> some = {1, 2};
  MergeSums(none, &some);
  EXPECT_EQ(some, (std::vector<int64_t>{1, 2}));
  MergeSums(some, &none);
  EXPECT_EQ(none, some);
}

TEST(PackSums, DoesNotDependOnTheOrderOfMerges) {
  Outer forth = MakeOuter(1);
  MergeSums(MakeOuter(2), &forth);
  MergeSums(MakeOuter(3), &forth);
  Outer back = MakeOuter(3);
  MergeSums(MakeOuter(2), &back);
  MergeSums(MakeOuter(1), &back);
  EXPECT_EQ(PackedSums(forth), PackedSums(back));
}

TEST(PackSums, UnpacksToTheSameSums) {
  const std::string bytes = PackedSums(MakeOuter(2));
  Outer again;
  UnpackAllSums(bytes, &again);
  EXPECT_EQ(PackedSums(again), bytes);
  EXPECT_EQ(again.list[1].sum.value(), 0.2);
  EXPECT_EQ(again.list[1].pending, 0.0);
}

TEST(PackSums, KeepsThatASumHasOverflown) {
  ExactSum sum;
  sum.Add(std::numeric_limits<double>::infinity());
  ExactSum again;
  UnpackAllSums(PackedSums(sum), &again);
  EXPECT_TRUE(std::isnan(again.value()));
}

TEST(UnpackSums, RefusesWhatIsTooShortTooLongOrOfAnotherSize) {
  const std::string bytes = PackedSums(std::vector<int64_t>{1, 2, 3});
  const auto refuses = [](const std::string& some, std::vector<int64_t> into) {
    testing::ExpectError(ErrorCode::kBadData, {"packed sums"}, [&] { UnpackAllSums(some, &into); });
  };
  refuses(bytes.substr(0, bytes.size() - 1), {});
  refuses(bytes + "x", {});
  refuses(bytes, {0, 0});
  std::string huge = bytes;
  huge[6] = 1;  // 2^48 elements
  refuses(huge, {});
  huge[7] = '\xff';  // a negative number
  refuses(huge, {});
}

}  // namespace
}  // namespace segcal
