// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace segcal {

// The wire format of protocol buffers: a message is a list of fields, each a number, a type and a
// value. What fields mean is known to whoever writes or reads a message.
enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Writes a message field by field.
class ProtoWriter {
 public:
  void Integer(int field, int64_t value);
  void Float(int field, float value);
  // Text, bytes, or the bytes of a message inside this one.
  void Text(int field, std::string_view text);
  void Message(int field, const ProtoWriter& message) { Text(field, message.bytes_); }
  // Numbers one behind the other in a single field.
  void Integers(int field, std::span<const int64_t> values);
  void Floats(int field, std::span<const float> values);
  // A field as it was read.
  void Copy(std::string_view whole_field) { bytes_ += whole_field; }

  const std::string& bytes() const noexcept { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Varint(uint64_t value);
  void Key(int field, WireType type);

  std::string bytes_;
};

// One field of a message that is read.
struct ProtoField {
  int number = 0;
  WireType type = WireType::kVarint;
  uint64_t integer = 0;         // of a varint
  std::string_view bytes = {};  // of text, bytes and messages
  std::string_view whole = {};  // the field with its number and length, to be copied
};

// Reads the fields of a message in order. Whatever the bytes are, it ends in an Error or at the end
// of the message; nothing is copied. `where` names the message in messages of errors.
class ProtoReader {
 public:
  ProtoReader(std::string_view message, std::string where)
      : rest_(message), size_(message.size()), where_(std::move(where)) {}

  // False at the end.
  bool Next(ProtoField* field);
  const std::string& where() const noexcept { return where_; }

  // What a field has to hold; another type is an Error.
  int64_t Integer(const ProtoField& field) const;
  std::string_view Text(const ProtoField& field) const;
  ProtoReader Message(const ProtoField& field, const std::string& name) const;

 private:
  uint64_t Varint();
  std::string_view Skip(uint64_t count);
  [[noreturn]] void Fail(const std::string& what) const;

  std::string_view rest_;
  size_t size_;
  std::string where_;
};

}  // namespace segcal
