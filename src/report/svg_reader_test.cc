// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cstring>

#include "report/svg_reader_for_test.h"
#include "report/text.h"

namespace segcal::testing {
namespace {

// A cursor that fails loudly.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return position_ == text_.size(); }
  bool Skip(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  void Expect(std::string_view token) {
    if (!Skip(token)) Fail("expected " + std::string(token));
  }
  std::string Until(std::string_view stops) {
    const size_t end = text_.find_first_of(stops, position_);
    if (end == std::string_view::npos) Fail("unexpected end");
    std::string part(text_.substr(position_, end - position_));
    position_ = end;
    return part;
  }
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error("byte " + std::to_string(position_) + ": " + what);
  }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

void CheckEntities(const std::string& text, const Reader& reader) {
  for (size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::string entity = text.substr(at, text.find(';', at) - at);
    if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot") {
      reader.Fail("unknown entity " + entity);
    }
  }
}

Element ReadStartTag(Reader* reader) {
  Element element;
  element.name = reader->Until(" />");
  if (element.name.empty()) reader->Fail("empty name");
  while (reader->Skip(" ")) {
    const std::string key = reader->Until("= />");
    reader->Expect("=\"");
    const std::string value = reader->Until("\"<");
    reader->Expect("\"");
    CheckEntities(value, *reader);
    if (!element.attributes.emplace(key, value).second) reader->Fail("twice " + key);
  }
  return element;
}

std::string DecodeBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 255u));
  }
  return bytes;
}

SvgBox TextBox(const Element& text) {
  const double size = text.Number("font-size");
  const double width = TextPixels(text.text, size);
  double x = text.Number("x");
  if (text.Has("text-anchor", "middle")) x -= width / 2.0;
  if (text.Has("text-anchor", "end")) x -= width;
  return {x, text.Number("y") - 0.75 * size, width, 0.95 * size};
}

bool Overlap(const SvgBox& a, const SvgBox& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

}  // namespace

std::vector<Element> ReadSvg(std::string_view svg) {
  Reader reader(svg);
  std::vector<Element> elements;
  std::vector<size_t> open;
  do {
    reader.Expect("<");
    if (reader.Skip("/")) {
      if (open.empty() || reader.Until(">") != elements[open.back()].name)
        reader.Fail("wrong end tag");
      reader.Expect(">");
      open.pop_back();
    } else {
      elements.push_back(ReadStartTag(&reader));
      if (!reader.Skip("/")) open.push_back(elements.size() - 1);
      reader.Expect(">");
    }
    if (open.empty()) break;
    const std::string text = reader.Until("<");
    CheckEntities(text, reader);
    elements[open.back()].text += text;
  } while (true);
  reader.Expect("\n");
  if (!reader.AtEnd()) reader.Fail("text behind the document");
  return elements;
}

std::vector<Element> Select(const std::vector<Element>& elements,
                            const std::string& name,
                            const std::string& fill) {
  std::vector<Element> selected;
  for (const Element& element : elements) {
    if (element.name == name && (fill.empty() || element.Has("fill", fill)))
      selected.push_back(element);
  }
  return selected;
}

std::vector<std::string> Texts(const std::vector<Element>& elements) {
  std::vector<std::string> texts;
  for (const Element& element : Select(elements, "text")) texts.push_back(element.text);
  return texts;
}

RgbImage DecodePng(const std::string& bytes) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) == 0) {
    throw std::runtime_error("not a PNG");
  }
  header.format = PNG_FORMAT_RGB;
  RgbImage image(header.width, header.height);
  if (png_image_finish_read(&header, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error("broken PNG");
  }
  return image;
}

RgbImage DecodeImage(const Element& image) {
  constexpr std::string_view kPrefix = "data:image/png;base64,";
  const std::string& link = image.attributes.at("href");
  if (link.rfind(kPrefix, 0) != 0) throw std::runtime_error("not a PNG link");
  return DecodePng(DecodeBase64(std::string_view(link).substr(kPrefix.size())));
}

void ExpectGoodLayout(const std::string& svg) {
  const std::vector<Element> elements = ReadSvg(svg);
  const double width = elements[0].Number("width");
  const double height = elements[0].Number("height");
  std::vector<std::pair<SvgBox, std::string>> boxes;
  for (const Element& element : elements) {
    if (element.name == "rect" || element.name == "image") {
      boxes.push_back({element.box(), element.name});
    }
  }
  std::vector<std::pair<SvgBox, std::string>> texts;
  for (const Element& text : Select(elements, "text")) {
    if (text.attributes.count("transform") == 0) texts.push_back({TextBox(text), text.text});
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      EXPECT_FALSE(Overlap(texts[i].first, texts[k].first))
          << texts[i].second << " | " << texts[k].second;
    }
  }
  boxes.insert(boxes.end(), texts.begin(), texts.end());
  for (const auto& [box, what] : boxes) {
    EXPECT_GE(box.x, 0.0) << what;
    EXPECT_GE(box.y, 0.0) << what;
    EXPECT_GE(box.height, 0.0) << what;
    EXPECT_LE(box.right(), width) << what;
    EXPECT_LE(box.bottom(), height) << what;
  }
}

// The reader must be able to fail, or the tests that use it prove nothing.
TEST(SvgReader, RefusesWhatIsNotWellFormed) {
  for (const char* bad : {"<a><b></a></b>\n",
                          "<a>\n",
                          "<a x=1/>\n",
                          "<a x=\"1\" x=\"2\"/>\n",
                          "<a>&</a>\n",
                          "<a>&nbsp;</a>\n",
                          "<a x=\"<\"/>\n",
                          "<a/><b/>\n",
                          "<a/>"}) {
    EXPECT_THROW(ReadSvg(bad), std::runtime_error) << bad;
  }
}

TEST(SvgReader, ReadsNamesAttributesAndText) {
  const auto elements = ReadSvg("<a x=\"1.5\"><b>t &amp; u</b><c/></a>\n");
  ASSERT_EQ(elements.size(), 3u);
  EXPECT_EQ(elements[0].Number("x"), 1.5);
  EXPECT_EQ(elements[1].text, "t &amp; u");
  EXPECT_EQ(elements[2].name, "c");
}

}  // namespace segcal::testing
