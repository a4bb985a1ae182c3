// SPDX-License-Identifier: Apache-2.0
#include "formats/protobuf.h"

#include <bit>

#include "core/throw.h"

namespace segcal {
namespace {

// Seven bits a byte, low ones first: ten bytes for 64 bits.
constexpr int kMaxVarintBytes = 10;
constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

void AppendFixed32(uint32_t value, std::string* bytes) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes->push_back(static_cast<char>((value >> shift) & 0xFFu));
}

}  // namespace

void ProtoWriter::Varint(uint64_t value) {
  for (; value >= 0x80u; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7Fu) | 0x80u));
  bytes_.push_back(static_cast<char>(value));
}

void ProtoWriter::Key(int field, WireType type) {
  Varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
}

void ProtoWriter::Integer(int field, int64_t value) {
  Key(field, WireType::kVarint);
  Varint(static_cast<uint64_t>(value));
}

void ProtoWriter::Float(int field, float value) {
  Key(field, WireType::kFixed32);
  AppendFixed32(std::bit_cast<uint32_t>(value), &bytes_);
}

void ProtoWriter::Text(int field, std::string_view text) {
  Key(field, WireType::kBytes);
  Varint(text.size());
  bytes_ += text;
}

void ProtoWriter::Integers(int field, std::span<const int64_t> values) {
  ProtoWriter packed;
  for (const int64_t value : values) packed.Varint(static_cast<uint64_t>(value));
  Message(field, packed);
}

void ProtoWriter::Floats(int field, std::span<const float> values) {
  ProtoWriter packed;
  for (const float value : values) AppendFixed32(std::bit_cast<uint32_t>(value), &packed.bytes_);
  Message(field, packed);
}

void ProtoReader::Fail(const std::string& what) const {
  Throw(ErrorCode::kBadData, "{}: byte {}: {}", where_, size_ - rest_.size(), what);
}

uint64_t ProtoReader::Varint() {
  uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    if (rest_.empty()) Fail("the file ends inside a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7Fu) << (7 * i);
    if (byte < 0x80u) return value;
  }
  Fail("a number of more than ten bytes; this is no protocol buffer message");
}

std::string_view ProtoReader::Skip(uint64_t count) {
  if (count > rest_.size())
    Fail(fmt::format("a field of {} bytes where {} are left", count, rest_.size()));
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

bool ProtoReader::Next(ProtoField* field) {
  if (rest_.empty()) return false;
  const std::string_view begin = rest_;
  const uint64_t key = Varint();
  const uint64_t number = key >> 3;
  if (number == 0 || number > kMaxFieldNumber)
    Fail(fmt::format("field number {}; this is no protocol buffer message", number));
  *field = {.number = static_cast<int>(number)};
  switch (key & 7u) {
    case static_cast<uint64_t>(WireType::kVarint):
      field->type = WireType::kVarint;
      field->integer = Varint();
      break;
    case static_cast<uint64_t>(WireType::kFixed64):
      field->type = WireType::kFixed64;
      Skip(8);
      break;
    case static_cast<uint64_t>(WireType::kBytes):
      field->type = WireType::kBytes;
      field->bytes = Skip(Varint());
      break;
    case static_cast<uint64_t>(WireType::kFixed32):
      field->type = WireType::kFixed32;
      Skip(4);
      break;
    default:
      Fail(fmt::format("field {} of type {}; 0, 1, 2 or 5 is required", number, key & 7u));
  }
  field->whole = begin.substr(0, begin.size() - rest_.size());
  return true;
}

int64_t ProtoReader::Integer(const ProtoField& field) const {
  if (field.type != WireType::kVarint)
    Fail(fmt::format("field {} has to be a number", field.number));
  return static_cast<int64_t>(field.integer);
}

std::string_view ProtoReader::Text(const ProtoField& field) const {
  if (field.type != WireType::kBytes)
    Fail(fmt::format("field {} has to be text or a message", field.number));
  return field.bytes;
}

ProtoReader ProtoReader::Message(const ProtoField& field, const std::string& name) const {
  return {Text(field), where_ + ": " + name};
}

}  // namespace segcal
