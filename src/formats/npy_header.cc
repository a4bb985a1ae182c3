// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <charconv>

#include "core/throw.h"
#include "formats/npy.h"
#include "formats/storage.h"

namespace segcal {
namespace {

struct TypeCode {
  const char* code;
  DType dtype;
};

constexpr TypeCode kTypeCodes[] = {{"f2", DType::kF16},
                                   {"f4", DType::kF32},
                                   {"f8", DType::kF64},
                                   {"u1", DType::kU8},
                                   {"i1", DType::kI8},
                                   {"u2", DType::kU16},
                                   {"i2", DType::kI16},
                                   {"u4", DType::kU32},
                                   {"i4", DType::kI32},
                                   {"u8", DType::kU64},
                                   {"i8", DType::kI64},
                                   {"b1", DType::kBool}};

constexpr char kNativeOrder = kLittleEndianMachine ? '<' : '>';
constexpr size_t kMaxAxes = 32;  // as numpy

void SetType(NpyHeader* header, std::string_view descr, const std::string& name) {
  for (const TypeCode& type : kTypeCodes) {
    if (descr.size() != 3 || descr.substr(1) != type.code) continue;
    const char order = descr[0];
    const bool known_order = order == '<' || order == '>' || order == '=';
    if (!known_order && !(order == '|' && ElementSize(type.dtype) == 1)) break;
    header->info.dtype = type.dtype;
    header->swap = ElementSize(type.dtype) > 1 && order != '=' && order != kNativeOrder;
    return;
  }
  Throw(ErrorCode::kUnsupported,
        "{}: dtype '{}', a float of 2, 4 or 8 bytes, an integer or a bool is required",
        name,
        descr);
}

// A cursor over the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader Parse() {
    Expect('{');
    while (!Accept('}')) {
      ParseEntry();
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    SkipSpace();
    if (at_ != text_.size()) Fail("the end of the header");
    if (!has_type_ || !has_order_ || !has_shape_) Fail("the keys descr, fortran_order and shape");
    return header_;
  }

 private:
  [[noreturn]] void Fail(const char* required) const {
    Throw(ErrorCode::kBadData, "{}: npy header, byte {}: {} required", name_, at_, required);
  }

  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Accept(char wanted) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void Expect(char wanted) {
    const char required[] = {'\'', wanted, '\'', '\0'};
    if (!Accept(wanted)) Fail(required);
  }
  bool AcceptWord(std::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view ParseString() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') Fail("a quoted string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) Fail("a closing quote");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  bool ParseBool() {
    if (AcceptWord("True")) return true;
    if (!AcceptWord("False")) Fail("True or False");
    return false;
  }

  int64_t ParseLength() {
    SkipSpace();
    int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc() || value < 0) Fail("an axis length that fits in 63 bits");
    at_ = static_cast<size_t>(stop - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote long integers
    return value;
  }

  void ParseShape() {
    Expect('(');
    while (!Accept(')')) {
      header_.info.shape.push_back(ParseLength());
      if (header_.info.shape.size() > kMaxAxes) Fail("at most 32 axes");
      if (Accept(',')) continue;
      // Without a comma one number in parentheses is a number, not a tuple.
      if (header_.info.shape.size() == 1) Fail("a tuple");
      Expect(')');
      break;
    }
  }

  void ParseType() {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '[') {
      Throw(ErrorCode::kUnsupported,
            "{}: records with named fields, plain numbers are required",
            name_);
    }
    SetType(&header_, ParseString(), name_);
  }

  void ParseEntry() {
    const std::string_view key = ParseString();
    Expect(':');
    bool* seen = key == "descr"           ? &has_type_
                 : key == "fortran_order" ? &has_order_
                 : key == "shape"         ? &has_shape_
                                          : nullptr;
    if (seen == nullptr || *seen) Fail("each of descr, fortran_order and shape once");
    *seen = true;
    if (seen == &has_type_) ParseType();
    if (seen == &has_order_) header_.fortran = ParseBool();
    if (seen == &has_shape_) ParseShape();
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

const char* NpyCode(DType dtype) {
  for (const TypeCode& type : kTypeCodes) {
    if (type.dtype == dtype) return type.code;
  }
  return "";
}

}  // namespace

NpyHeader ParseNpyDictionary(std::string_view text, const std::string& name) {
  NpyHeader header = DictionaryParser(text, name).Parse();
  header.data_bytes = CheckedNumBytes(name, header.info);
  return header;
}

NpyHeader ReadNpyHeader(ByteStream* stream, const std::string& name) {
  std::byte start[12];
  ReadExactly(stream, name, "npy header", std::span(start).first(8));
  if (std::string_view(reinterpret_cast<const char*>(start), 6) != "\x93NUMPY") {
    Throw(ErrorCode::kBadData, "{}: does not start with the mark of an npy file", name);
  }
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0}) {
    Throw(ErrorCode::kUnsupported,
          "{}: npy version {}.{}, 1.0, 2.0 or 3.0 is required",
          name,
          version,
          std::to_integer<int>(start[7]));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  ReadExactly(stream, name, "npy header", std::span(start).subspan(8, length_bytes));
  const int64_t length =
      version == 1 ? LoadLittle<uint16_t>(start + 8) : LoadLittle<uint32_t>(start + 8);
  // numpy itself refuses more than 10000.
  constexpr int64_t kMaxHeaderBytes = int64_t{1} << 16;
  if (length > kMaxHeaderBytes) {
    Throw(ErrorCode::kBadData,
          "{}: npy header of {} bytes, at most {}",
          name,
          length,
          kMaxHeaderBytes);
  }
  std::string text(static_cast<size_t>(length), '\0');
  ReadExactly(stream, name, "npy header", std::as_writable_bytes(std::span(text)));
  NpyHeader header = ParseNpyDictionary(text, name);
  header.header_bytes = 8 + static_cast<int64_t>(length_bytes) + length;
  return header;
}

Bytes EncodeNpyHeader(const std::string& name, const ArrayInfo& info) {
  CheckedNumBytes(name, info);
  const char order = ElementSize(info.dtype) == 1 ? '|' : kNativeOrder;
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 order,
                                 NpyCode(info.dtype),
                                 fmt::join(info.shape.begin(), info.shape.end(), ", "),
                                 info.shape.size() == 1 ? "," : "");
  constexpr size_t kPreamble = 10;
  while ((kPreamble + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  Bytes header;
  AppendText(&header, std::string_view("\x93NUMPY\x01\x00", 8));
  AppendLittle(&header, static_cast<uint16_t>(text.size()));
  AppendText(&header, text);
  return header;
}

}  // namespace segcal
