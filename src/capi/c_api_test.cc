// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>

#include "core/half.h"
#include "segcal/c.h"
#include "segcal/model.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

constexpr int64_t kClasses = 3;
constexpr int64_t kHeight = 20;
constexpr int64_t kWidth = 30;
constexpr int64_t kVoxels = kHeight * kWidth;
constexpr int64_t kScores[] = {kClasses, kHeight, kWidth};
constexpr int64_t kSpace[] = {kHeight, kWidth};

// A fitted model in C's hands, and logits for it.
class CApi : public ::testing::Test {
 protected:
  CApi()
      : scene_(RandomScene({.num_cases = 2, .num_classes = kClasses, .shape = {kHeight, kWidth}})),
        text_(testing::FitAs("cms_ap(z)", scene_).ToJson()),
        probs_(kClasses * kVoxels),
        labels_(kVoxels),
        confidence_(kVoxels) {
    for (int64_t i = 0; i < kClasses * kVoxels; ++i)
      logits_.push_back(static_cast<float>((i * 7919) % 1000) / 100.0f);
    EXPECT_EQ(segcal_load_text(text_.data(), text_.size(), &model_), SEGCAL_OK);
  }
  ~CApi() override { segcal_free(model_); }

  segcal_input Member() const {
    return {"member", logits_.data(), SEGCAL_F32, 3, kScores, nullptr};
  }
  segcal_output Probs() {
    return {"probabilities", probs_.data(), SEGCAL_F32, 3, kScores, nullptr};
  }
  segcal_output Labels() { return {"labels", labels_.data(), SEGCAL_U8, 2, kSpace, nullptr}; }
  segcal_output Confidence() {
    return {"confidence", confidence_.data(), SEGCAL_F32, 2, kSpace, nullptr};
  }

  // The status and message of one input and output; empty where it worked.
  std::string ErrorOf(const segcal_input& input, const segcal_output& output) {
    const segcal_status status = segcal_apply(model_, &input, 1, &output, 1, nullptr);
    return status == SEGCAL_OK ? "" : segcal_last_error();
  }

  Scene scene_;
  std::string text_;
  segcal_model* model_ = nullptr;
  std::vector<float> logits_;
  std::vector<float> probs_;
  std::vector<uint8_t> labels_;
  std::vector<float> confidence_;
};

TEST_F(CApi, SaysWhatAModelIs) {
  EXPECT_STREQ(segcal_version(), "0.2.0");
  EXPECT_STREQ(segcal_pipeline(model_), "cms_ap(z)");
  EXPECT_STREQ(segcal_input_kind(model_), "logits");
  EXPECT_EQ(segcal_num_classes(model_), kClasses);
  EXPECT_STREQ(segcal_class_name(model_, 1), scene_.dataset.classes[1].c_str());
  EXPECT_EQ(segcal_class_name(model_, kClasses), nullptr);
  EXPECT_EQ(segcal_class_name(model_, -1), nullptr);
  EXPECT_EQ(segcal_min_members(model_), 1);
  EXPECT_EQ(segcal_needs_image(model_), 0);
  EXPECT_EQ(segcal_translation_invariant(model_), 1);
  EXPECT_STREQ(segcal_preserves(model_), "argmax");
  EXPECT_EQ(FitReportFromJson(segcal_report(model_)).data.cases, 2);
}

TEST_F(CApi, AppliesAsCppDoes) {
  const segcal_input member = Member();
  const segcal_output outputs[] = {Probs(), Labels(), Confidence()};
  ASSERT_EQ(segcal_apply(model_, &member, 1, outputs, 3, "{\"threads\": 2}"), SEGCAL_OK)
      << segcal_last_error();
  std::vector<float> expected(probs_.size());
  std::vector<uint8_t> labels(labels_.size());
  Model::FromJson(text_).Apply(
      LogitsView{MakeView(logits_.data(), {kClasses, kHeight, kWidth})},
      {.probabilities = MakeSpan(expected.data(), {kClasses, kHeight, kWidth}),
       .labels = MakeSpan(labels.data(), {kHeight, kWidth})});
  EXPECT_EQ(probs_, expected);
  EXPECT_EQ(labels_, labels);
  for (size_t v = 0; v < confidence_.size(); ++v)
    EXPECT_EQ(confidence_[v], probs_[labels_[v] * static_cast<size_t>(kVoxels) + v]);
}

// Channels last, rows from the bottom, float16: the same values at other places.
TEST_F(CApi, TakesAnyStridesAndHalves) {
  const segcal_input plain = Member();
  const segcal_output to_plain = Probs();
  ASSERT_EQ(ErrorOf(plain, to_plain), "");
  std::vector<uint16_t> halves(logits_.size());
  const auto at = [](int64_t c, int64_t y, int64_t x) {
    return ((kHeight - 1 - y) * kWidth + x) * kClasses + c;
  };
  for (int64_t c = 0; c < kClasses; ++c) {
    for (int64_t y = 0; y < kHeight; ++y) {
      for (int64_t x = 0; x < kWidth; ++x) {
        float& value = logits_[static_cast<size_t>(c * kVoxels + y * kWidth + x)];
        halves[static_cast<size_t>(at(c, y, x))] = HalfFromFloat(value);
        value = FloatFromHalf(HalfFromFloat(value));
      }
    }
  }
  ASSERT_EQ(ErrorOf(plain, to_plain), "");
  const int64_t strides[] = {1, -kWidth * kClasses, kClasses};
  std::vector<float> out(probs_.size());
  const segcal_input member{
      "member", &halves[static_cast<size_t>(at(0, 0, 0))], SEGCAL_F16, 3, kScores, strides};
  const segcal_output probs{
      "probabilities", &out[static_cast<size_t>(at(0, 0, 0))], SEGCAL_F32, 3, kScores, strides};
  ASSERT_EQ(ErrorOf(member, probs), "");
  for (int64_t c = 0; c < kClasses; ++c) {
    for (int64_t y = 0; y < kHeight; ++y) {
      EXPECT_EQ(out[static_cast<size_t>(at(c, y, 5))],
                probs_[static_cast<size_t>(c * kVoxels + y * kWidth + 5)]);
    }
  }
}

TEST_F(CApi, NullIsAnErrorNotACrash) {
  segcal_model* model = nullptr;
  EXPECT_EQ(segcal_load(nullptr, &model), SEGCAL_INVALID_ARGUMENT);
  EXPECT_STREQ(segcal_last_error(), "path is NULL");
  EXPECT_EQ(segcal_load("x", nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_EQ(segcal_load_text(nullptr, 5, &model), SEGCAL_INVALID_ARGUMENT);
  EXPECT_EQ(segcal_pipeline(nullptr), nullptr);
  EXPECT_EQ(segcal_input_kind(nullptr), nullptr);
  EXPECT_EQ(segcal_class_name(nullptr, 0), nullptr);
  EXPECT_EQ(segcal_preserves(nullptr), nullptr);
  EXPECT_EQ(segcal_report(nullptr), nullptr);
  EXPECT_EQ(segcal_num_classes(nullptr), 0);
  EXPECT_EQ(segcal_min_members(nullptr), -1);
  EXPECT_EQ(segcal_needs_image(nullptr), -1);
  EXPECT_EQ(segcal_translation_invariant(nullptr), -1);
  segcal_free(nullptr);
  const segcal_input member = Member();
  const segcal_output probs = Probs();
  EXPECT_EQ(segcal_apply(nullptr, &member, 1, &probs, 1, nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_EQ(segcal_apply(model_, nullptr, 1, &probs, 1, nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_EQ(segcal_apply(model_, &member, 1, nullptr, 1, nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_EQ(segcal_apply(model_, &member, 0, &probs, 1, nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_STREQ(segcal_last_error(), "no input \"member\"; at least one is required");
  EXPECT_EQ(segcal_apply(model_, &member, 1, &probs, 0, nullptr), SEGCAL_INVALID_ARGUMENT);
}

TEST_F(CApi, SaysWhichArrayIsWrong) {
  const auto input_error = [&](auto change) {
    segcal_input member = Member();
    change(&member);
    return ErrorOf(member, Probs());
  };
  EXPECT_EQ(input_error([](segcal_input* in) { in->name = nullptr; }), "input 0: name is NULL");
  EXPECT_EQ(input_error([](segcal_input* in) { in->name = "logits"; }),
            "no input \"logits\"; there are member, mask, image");
  EXPECT_EQ(input_error([](segcal_input* in) { in->data = nullptr; }),
            "input 0 (member): data is NULL");
  EXPECT_EQ(input_error([](segcal_input* in) { in->shape = nullptr; }),
            "input 0 (member): shape is NULL");
  EXPECT_EQ(input_error([](segcal_input* in) { in->dtype = 13; }),
            "input 0 (member): dtype is 13, 0 to 12 is required");
  EXPECT_EQ(input_error([](segcal_input* in) { in->dtype = -1; }),
            "input 0 (member): dtype is -1, 0 to 12 is required");
  EXPECT_EQ(input_error([](segcal_input* in) { in->num_axes = 0; }),
            "input 0 (member): num_axes is 0, 1 to 8 is required");
  EXPECT_EQ(input_error([](segcal_input* in) { in->num_axes = 1 << 30; }),
            "input 0 (member): num_axes is 1073741824, 1 to 8 is required");
  segcal_output twice[] = {Probs(), Probs()};
  const segcal_input member = Member();
  EXPECT_EQ(segcal_apply(model_, &member, 1, twice, 2, nullptr), SEGCAL_INVALID_ARGUMENT);
  EXPECT_STREQ(segcal_last_error(), "\"probabilities\" is given twice");
  segcal_output other = Probs();
  other.name = "logits";
  EXPECT_NE(ErrorOf(member, other).find("no output \"logits\"; there are"), std::string::npos);
}

// Shapes and strides that cannot be, and memory that would be used twice.
TEST_F(CApi, RefusesArraysThatCannotBe) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const int64_t shapes[][3] = {
      {kClasses, -1, kWidth}, {kClasses, kHuge, kHuge}, {0, 0, 0}, {kClasses + 1, kHeight, kWidth}};
  for (const auto& shape : shapes) {
    segcal_input member = Member();
    member.shape = shape;
    EXPECT_NE(ErrorOf(member, Probs()), "");
    segcal_output probs = Probs();
    probs.shape = shape;
    EXPECT_NE(ErrorOf(Member(), probs), "");
  }
  const int64_t strides[][3] = {
      {kHuge, kHuge, kHuge}, {-kHuge, 1, 1}, {std::numeric_limits<int64_t>::min(), 0, 0}};
  for (const auto& stride : strides) {
    segcal_input member = Member();
    member.strides = stride;
    EXPECT_NE(ErrorOf(member, Probs()), "");
  }
  const int64_t still[] = {0, 0, 0};
  segcal_output on_itself = Probs();
  on_itself.strides = still;
  EXPECT_NE(ErrorOf(Member(), on_itself).find("several elements at one place"), std::string::npos);
  segcal_output on_input = Probs();
  on_input.data = logits_.data();
  EXPECT_NE(ErrorOf(Member(), on_input).find("overlaps the memory of"), std::string::npos);
  segcal_output wrong_type = Probs();
  wrong_type.dtype = SEGCAL_I64;
  EXPECT_NE(ErrorOf(Member(), wrong_type).find("float16 or float32 is required"),
            std::string::npos);
}

TEST_F(CApi, RefusesBadValuesModelsAndOptions) {
  logits_[5] = std::numeric_limits<float>::quiet_NaN();
  const segcal_input member = Member();
  const segcal_output probs = Probs();
  EXPECT_EQ(segcal_apply(model_, &member, 1, &probs, 1, nullptr), SEGCAL_BAD_DATA);
  for (const char* options :
       {"{", "[]", "{\"thread\": 1}", "{\"threads\": -1}", "{\"threads\": 1.5}"})
    EXPECT_NE(segcal_apply(model_, &member, 1, &probs, 1, options), SEGCAL_OK) << options;
  segcal_model* model = nullptr;
  EXPECT_EQ(segcal_load("no/such/file.json", &model), SEGCAL_IO);
  EXPECT_NE(std::strstr(segcal_last_error(), "no/such/file.json"), nullptr);
  for (size_t size = 0; size < text_.size(); size += 97)
    EXPECT_NE(segcal_load_text(text_.data(), size, &model), SEGCAL_OK);
  EXPECT_EQ(model, nullptr);
}

// Every thread has its own arrays and its own last error.
TEST_F(CApi, ThreadsDoNotMeet) {
  ASSERT_EQ(ErrorOf(Member(), Probs()), "");
  const std::vector<float> expected = probs_;
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> own(probs_.size());
      const segcal_input member = Member();
      const segcal_output probs{"probabilities", own.data(), SEGCAL_F32, 3, kScores, nullptr};
      for (int round = 0; round < 20; ++round) {
        const std::string wrong = "thread " + std::to_string(t);
        segcal_output other = probs;
        other.name = wrong.c_str();
        segcal_apply(model_, &member, 1, &other, 1, nullptr);
        const bool said = std::strstr(segcal_last_error(), wrong.c_str()) != nullptr;
        const bool done =
            segcal_apply(model_, &member, 1, &probs, 1, "{\"threads\": 1}") == SEGCAL_OK;
        if (said && done && own == expected) ++good[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 20));
}

}  // namespace
}  // namespace segcal
