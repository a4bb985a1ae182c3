// SPDX-License-Identifier: Apache-2.0
#include "page/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "page/assets.h"

namespace segcal {
namespace {

constexpr const char* kEvil = "</script><b a=\"'&";

TEST(EscapeHtml, LeavesNothingThatEndsTextOrAnAttribute) {
  EXPECT_EQ(EscapeHtml(kEvil), "&lt;/script&gt;&lt;b a=&quot;&#39;&amp;");
  EXPECT_EQ(EscapeHtml("ts(z) → ä"), "ts(z) → ä");
}

TEST(EmbedJson, IsTheSameJsonWithoutATag) {
  const nlohmann::json json = {{"name", kEvil}, {"n", 3}};
  const std::string embedded = EmbedJson(json.dump());
  EXPECT_EQ(embedded.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(embedded), json);
}

TEST(FigureStore, ShowsTheChosenFigureAndKeepsAllOfThem) {
  FigureStore store("store");
  EXPECT_TRUE(store.empty());
  store.Add("a|1", "<svg>one</svg>");
  store.Add("b|1", "");
  EXPECT_TRUE(store.Has("a|1"));
  EXPECT_FALSE(store.Has("b|1"));
  const std::string slot = store.Slot("a|1", "{x}|{y}");
  EXPECT_NE(slot.find("<svg>one</svg>"), std::string::npos);
  EXPECT_NE(slot.find("data-key=\"{x}|{y}\""), std::string::npos);
  EXPECT_EQ(store.Slot("c", "{x}").find("<svg>"), std::string::npos);
  EXPECT_NE(store.ToHtml().find("id=\"store\""), std::string::npos);
}

TEST(ChoiceHtml, EscapesWhatIsShownAndMarksTheChosen) {
  const std::string html = ChoiceHtml("metric", "of", {{"a", "<A>"}, {"b", "B"}}, "b");
  EXPECT_NE(html.find(">&lt;A&gt;</option>"), std::string::npos);
  EXPECT_NE(html.find("value=\"b\" selected"), std::string::npos);
}

TEST(PageScript, HasEveryModuleAndNothingThatEndsTheElement) {
  const std::string script = PageScript();
  for (const char* part : {"class PlaneReader", "function startTable", "class Explorer"})
    EXPECT_NE(script.find(part), std::string::npos) << part;
  EXPECT_EQ(script.find("\nimport "), std::string::npos);
  EXPECT_EQ(script.find("\nexport "), std::string::npos);
  EXPECT_EQ(script.find("</script"), std::string::npos);
  EXPECT_EQ(PageStyle().find("</style"), std::string::npos);
  EXPECT_FALSE(PageStyle().empty());
}

}  // namespace
}  // namespace segcal
