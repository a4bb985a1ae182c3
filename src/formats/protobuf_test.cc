// SPDX-License-Identifier: Apache-2.0
#include "formats/protobuf.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "segcal/error.h"

namespace segcal {
namespace {

std::string FromHex(const std::vector<int>& bytes) { return {bytes.begin(), bytes.end()}; }

// The examples of the documentation of the format.
TEST(ProtoWriter, WritesTheDocumentedExamples) {
  ProtoWriter integer;
  integer.Integer(1, 150);
  EXPECT_EQ(integer.bytes(), FromHex({0x08, 0x96, 0x01}));
  ProtoWriter text;
  text.Text(2, "testing");
  EXPECT_EQ(text.bytes(), FromHex({0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67}));
  ProtoWriter message;
  message.Message(3, integer);
  EXPECT_EQ(message.bytes(), FromHex({0x1a, 0x03, 0x08, 0x96, 0x01}));
  ProtoWriter packed;
  packed.Integers(6, std::vector<int64_t>{3, 270, 86942});
  EXPECT_EQ(packed.bytes(), FromHex({0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05}));
}

TEST(ProtoWriter, WritesNegativeNumbersInTenBytesAndFloatsInFour) {
  ProtoWriter out;
  out.Integer(1, -1);
  out.Float(2, 1.0f);
  EXPECT_EQ(out.bytes(),
            FromHex({0x08,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0x01,  //
                     0x15,
                     0x00,
                     0x00,
                     0x80,
                     0x3f}));
}

TEST(ProtoReader, ReadsWhatWasWritten) {
  ProtoWriter inner;
  inner.Text(8, "name");
  ProtoWriter out;
  out.Integer(1, std::numeric_limits<int64_t>::min());
  out.Float(2, 0.5f);
  out.Message(3000, inner);
  ProtoReader reader(out.bytes(), "file");
  ProtoField field;
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.number, 1);
  EXPECT_EQ(reader.Integer(field), std::numeric_limits<int64_t>::min());
  std::string copied(field.whole);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.type, WireType::kFixed32);
  copied += field.whole;
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.number, 3000);
  copied += field.whole;
  ProtoReader message = reader.Message(field, "inner");
  ASSERT_TRUE(message.Next(&field));
  EXPECT_EQ(message.Text(field), "name");
  EXPECT_FALSE(message.Next(&field));
  EXPECT_FALSE(reader.Next(&field));
  EXPECT_EQ(copied, out.bytes());
}

// What the error says of these bytes; empty without one.
std::string ErrorOf(const std::vector<int>& bytes) {
  const std::string message = FromHex(bytes);
  ProtoReader reader(message, "file");
  ProtoField field;
  try {
    while (reader.Next(&field)) reader.Text(field);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.what();
  }
  return "";
}

TEST(ProtoReader, RefusesWhatIsNoMessage) {
  EXPECT_EQ(ErrorOf({0x12, 0x02, 0x41}), "file: byte 2: a field of 2 bytes where 1 are left");
  EXPECT_EQ(ErrorOf({0x12}), "file: byte 1: the file ends inside a number");
  EXPECT_EQ(ErrorOf({0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),
            "file: byte 11: a field of 18446744073709551615 bytes where 0 are left");
  EXPECT_EQ(ErrorOf({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}),
            "file: byte 10: a number of more than ten bytes; this is no protocol buffer message");
  EXPECT_EQ(ErrorOf({0x02, 0x00}),
            "file: byte 1: field number 0; this is no protocol buffer message");
  EXPECT_EQ(ErrorOf({0x0b}), "file: byte 1: field 1 of type 3; 0, 1, 2 or 5 is required");
  EXPECT_EQ(ErrorOf({0x0d, 0x00, 0x00}), "file: byte 1: a field of 4 bytes where 2 are left");
  EXPECT_EQ(ErrorOf({0x08, 0x01}), "file: byte 2: field 1 has to be text or a message");
}

}  // namespace
}  // namespace segcal
