// SPDX-License-Identifier: Apache-2.0
#include "formats/files_for_test.h"
#include "formats/npy.h"

namespace segcal {
namespace {

constexpr const char* kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";

std::string ParseError(const std::string& text) {
  try {
    ParseNpyDictionary(text, "a.npy");
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return "";
}

TEST(NpyHeader, ReadsTheDictionaryNumpyWrites) {
  const NpyHeader header = ParseNpyDictionary(kGood, "a.npy");
  EXPECT_EQ(header.info.dtype, DType::kF32);
  EXPECT_EQ(header.info.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(header.fortran);
  EXPECT_EQ(header.data_bytes, 24);
}

TEST(NpyHeader, TakesAnyOrderOfKeysQuotesAndCommas) {
  const NpyHeader header =
      ParseNpyDictionary("{\"shape\":(7L,),'fortran_order':True , \"descr\" : '|u1'}", "a.npy");
  EXPECT_EQ(header.info.dtype, DType::kU8);
  EXPECT_EQ(header.info.shape, std::vector<int64_t>{7});
  EXPECT_TRUE(header.fortran);
}

TEST(NpyHeader, KnowsByteOrders) {
  const auto swap = [](const std::string& descr) {
    return ParseNpyDictionary("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,)}",
                              "a")
        .swap;
  };
  EXPECT_EQ(swap("<i4"), !kLittleEndianMachine);
  EXPECT_EQ(swap(">i4"), kLittleEndianMachine);
  EXPECT_FALSE(swap("=i4"));
  EXPECT_FALSE(swap(">u1"));
}

TEST(NpyHeader, RefusesOtherTypesByName) {
  for (const char* descr : {"|O", "<c8", "<U4", "|V2", "|f4", "f4", "<f3", "<f4 ", "", "<M8[s]"}) {
    const std::string text =
        std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,)}";
    EXPECT_HAS(ParseError(text), std::string("'") + descr + "'");
  }
  EXPECT_HAS(ParseError("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
             "fields");
}

TEST(NpyHeader, RefusesWhatIsNotExactlyTheThreeKeys) {
  for (const char* text : {
           "",
           "{}",
           "{'descr': '<f4', 'shape': (2,)}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
           "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
           "{'descr': '<f4",
       }) {
    EXPECT_HAS(ParseError(text), "a.npy");
  }
}

TEST(NpyHeader, RefusesShapesThatOverflow) {
  for (const char* shape :
       {"(9223372036854775808,)", "(4611686018427387904, 4)", "(99999999999999999999999,)"}) {
    const std::string text =
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + "}";
    EXPECT_HAS(ParseError(text), "a.npy");
  }
}

TEST(NpyHeader, WritesWhatItReadsWithAlignedData) {
  const ArrayInfo info{.dtype = DType::kI16, .shape = {5}, .spacing = {}};
  const std::string bytes = ToString(EncodeNpyHeader("a", info));
  EXPECT_EQ(bytes.size() % 64, 0u);
  EXPECT_EQ(bytes.back(), '\n');
  const NpyHeader header = ParseNpyDictionary(bytes.substr(10), "a");
  EXPECT_EQ(header.info.dtype, DType::kI16);
  EXPECT_EQ(header.info.shape, info.shape);
}

}  // namespace
}  // namespace segcal
