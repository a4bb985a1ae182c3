// SPDX-License-Identifier: Apache-2.0
// A case is files or memory: the same values give the same bytes, however they are stored.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "segcal/segcal.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;

constexpr int64_t kClasses = 4;
constexpr int64_t kHeight = 37;
constexpr int64_t kWidth = 41;
constexpr int64_t kVoxels = kHeight * kWidth;

// Values within what float16 holds exactly, so that every type can hold the same.
Scene HalfScene() {
  Scene scene = RandomScene({.seed = 5,
                             .num_cases = 4,
                             .num_members = 2,
                             .num_classes = kClasses,
                             .shape = {kHeight, kWidth},
                             .scale = 1.0,
                             .offset = 0.5});
  for (auto& members : scene.logits) {
    for (auto& member : members) {
      for (float& z : member) z = std::fmin(std::fmax(z, -7.0f), 7.0f);
    }
  }
  for (size_t c = 0; c < 4; ++c) {
    auto& mask = scene.masks.emplace_back(static_cast<size_t>(kVoxels), uint8_t{1});
    for (size_t v = c; v < mask.size(); v += 11) mask[v] = 0;
    scene.dataset.cases[c].group = c < 2 ? "one" : "two";
    scene.dataset.cases[c].split = c < 3 ? "calibration" : "test";
  }
  return scene;
}

// The same data set over copies of its memory in other types and orders.
class Stored {
 public:
  explicit Stored(const Scene& scene) : scene_(scene), dataset_(scene.InMemory()) {}
  const Dataset& dataset() const { return dataset_; }

  // Every member in another type.
  void Convert(DType dtype) {
    ForEachMember([&](size_t, size_t, const std::vector<float>& values) -> ArrayView {
      return {.data = Keep(testing::ConvertTo(dtype, values)),
              .dtype = dtype,
              .shape = {kClasses, kHeight, kWidth}};
    });
  }
  // (H, W, C) seen as (C, H, W).
  void StoreChannelsLast() {
    ForEachMember([&](size_t, size_t, const std::vector<float>& values) {
      const std::vector<std::byte>& bytes =
          *Bytes(testing::ConvertTo(DType::kF32, testing::ChannelsLast(values, kClasses)));
      return ChannelsFirst(ArrayView{
          .data = bytes.data(), .dtype = DType::kF32, .shape = {kHeight, kWidth, kClasses}});
    });
  }
  // A window, upside down, of an array with other rows and columns around it.
  void StoreInWindow() {
    constexpr int64_t kRow = 50;
    constexpr int64_t kPlane = 45 * kRow;
    ForEachMember([&](size_t, size_t, const std::vector<float>& values) -> ArrayView {
      std::vector<float> around(static_cast<size_t>(kClasses * kPlane), NAN);
      for (int64_t i = 0; i < kClasses * kVoxels; ++i) {
        const int64_t y = i / kWidth % kHeight;
        around[static_cast<size_t>(i / kVoxels * kPlane + (40 - y) * kRow + 3 + i % kWidth)] =
            values[static_cast<size_t>(i)];
      }
      const std::vector<std::byte>& bytes = *Bytes(testing::ConvertTo(DType::kF32, around));
      return {.data = bytes.data() + (40 * kRow + 3) * 4,
              .dtype = DType::kF32,
              .shape = {kClasses, kHeight, kWidth},
              .strides = {kPlane, -kRow, 1}};
    });
  }
  // Not at a multiple of the element's size.
  void Misalign() {
    ForEachMember([&](size_t, size_t, const std::vector<float>& values) -> ArrayView {
      std::vector<std::byte> bytes = testing::ConvertTo(DType::kF32, values);
      bytes.insert(bytes.begin(), std::byte{0});
      return {.data = static_cast<const std::byte*>(Keep(std::move(bytes))) + 1,
              .dtype = DType::kF32,
              .shape = {kClasses, kHeight, kWidth}};
    });
  }
  // Labels in another type, every second element of an array.
  template <class T>
  void StoreLabels(DType dtype) {
    for (size_t c = 0; c < dataset_.cases.size(); ++c) {
      std::vector<std::byte> bytes;
      for (const int32_t label : scene_.labels[c]) {
        for (const T value : {static_cast<T>(label), static_cast<T>(99)}) {
          const auto* p = reinterpret_cast<const std::byte*>(&value);
          bytes.insert(bytes.end(), p, p + sizeof(T));
        }
      }
      dataset_.cases[c].labels = ArrayView{.data = Keep(std::move(bytes)),
                                           .dtype = dtype,
                                           .shape = {kHeight, kWidth},
                                           .strides = {2 * kWidth, 2}};
    }
  }
  // Every second member, and the labels of every second case, from files.
  void MixWithFiles(const Dataset& files) {
    for (size_t c = 0; c < dataset_.cases.size(); ++c) {
      dataset_.cases[c].members[c % 2] = files.cases[c].members[c % 2];
      if (c % 2 == 0) dataset_.cases[c].labels = files.cases[c].labels;
    }
    dataset_.folder = files.folder;
  }

 private:
  const std::vector<std::byte>* Bytes(std::vector<std::byte> bytes) {
    kept_.push_back(std::make_unique<std::vector<std::byte>>(std::move(bytes)));
    return kept_.back().get();
  }
  const void* Keep(std::vector<std::byte> bytes) { return Bytes(std::move(bytes))->data(); }
  void ForEachMember(
      const std::function<ArrayView(size_t, size_t, const std::vector<float>&)>& store) {
    for (size_t c = 0; c < dataset_.cases.size(); ++c) {
      for (size_t m = 0; m < 2; ++m)
        dataset_.cases[c].members[m] = store(c, m, scene_.logits[c][m]);
    }
  }

  const Scene& scene_;
  Dataset dataset_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> kept_;
};

// Everything that takes a data set, as bytes.
std::string Everything(const Dataset& dataset) {
  std::string all;
  FitOptions fit;
  fit.search = 3;
  std::vector<Model> models;
  for (const char* pipeline : {"cms_ap(p)", "ts(z)", "lts(z, epochs=2)"}) {
    models.push_back(Fit(dataset, pipeline, fit).model);
    all += models.back().ToJson();
  }
  EvaluateOptions evaluate;
  evaluate.families = {"all"};
  evaluate.split = "test";
  all += ToJson(Evaluate(dataset, models, evaluate));
  DatasetSummary summary = Inspect(dataset);
  for (CaseSummary& c : summary.cases) c.dtype = "any";  // the one thing that says how it is stored
  all += ToJson(summary);
  VerifyOptions verify;
  verify.voxels = 0;
  all += ToJson(Verify(models[0], dataset, verify));
  const testing::TempFolder folder;
  ApplyOptions apply;
  apply.split = "test";
  for (const std::string& file : Apply(models[0], dataset, folder.path(), apply).files)
    all += folder.Get(std::filesystem::path(file).filename().string());
  return all;
}

class Memory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scene_.emplace(HalfScene());
    folder_.emplace();
    files_ = testing::WriteScene(*scene_, folder_->path());
    expected_ = Everything(files_);
  }
  static void TearDownTestSuite() {
    scene_.reset();
    folder_.reset();
  }

  static std::optional<Scene> scene_;
  static std::optional<testing::TempFolder> folder_;
  static Dataset files_;
  static std::string expected_;
};
std::optional<Scene> Memory::scene_;
std::optional<testing::TempFolder> Memory::folder_;
Dataset Memory::files_;
std::string Memory::expected_;

TEST_F(Memory, GivesTheBytesOfFiles) {
  ASSERT_GT(expected_.size(), 10000u);
  EXPECT_TRUE(Everything(scene_->InMemory()) == expected_);
}

TEST_F(Memory, GivesTheSameBytesForHalfAndDouble) {
  for (const DType dtype : {DType::kF16, DType::kF64}) {
    Stored stored(*scene_);
    stored.Convert(dtype);
    EXPECT_TRUE(Everything(stored.dataset()) == expected_) << Name(dtype);
  }
}

TEST_F(Memory, GivesTheSameBytesForAnyStrides) {
  Stored last(*scene_);
  last.StoreChannelsLast();
  EXPECT_TRUE(Everything(last.dataset()) == expected_);
  Stored window(*scene_);
  window.StoreInWindow();
  window.StoreLabels<int64_t>(DType::kI64);
  EXPECT_TRUE(Everything(window.dataset()) == expected_);
  Stored misaligned(*scene_);
  misaligned.Misalign();
  misaligned.StoreLabels<int16_t>(DType::kI16);
  EXPECT_TRUE(Everything(misaligned.dataset()) == expected_);
}

TEST_F(Memory, GivesTheSameBytesMixedWithFiles) {
  Stored mixed(*scene_);
  mixed.StoreInWindow();
  mixed.MixWithFiles(files_);
  EXPECT_TRUE(Everything(mixed.dataset()) == expected_);
}

// A bad view ends every operation with the name of the case and of the argument.
class BadCase : public Memory {
 protected:
  void ExpectRefused(const std::vector<std::string>& parts,
                     const std::function<void(Case*)>& spoil) {
    Dataset dataset = scene_->InMemory();
    spoil(&dataset.cases[1]);
    const Model model = Baseline(scene_->InMemory(), "none(z)");
    const testing::TempFolder folder;
    const auto refused = [&](const std::function<void()>& call) {
      try {
        call();
        ADD_FAILURE() << "was taken, not refused: " << parts[0];
      } catch (const Error& error) {
        for (const std::string& part : parts)
          EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    };
    refused([&] { Fit(dataset, "ts(z)"); });
    refused([&] { Evaluate(dataset, {model}); });
    refused([&] { Inspect(dataset); });
    refused([&] { Verify(model, dataset); });
    refused([&] { Apply(model, dataset, folder.File("out")); });
  }
};

TEST_F(BadCase, WithoutDataIsRefused) {
  ExpectRefused({"case case1: member 1", "null"}, [](Case* c) {
    c->members[1] = ArrayView{.data = nullptr, .shape = {kClasses, kHeight, kWidth}};
  });
  ExpectRefused({"case case1: labels", "null"}, [](Case* c) {
    c->labels = ArrayView{.data = nullptr, .shape = {kHeight, kWidth}};
  });
  ExpectRefused({"cases[1]", "neither a file nor a view"}, [](Case* c) { c->members[0] = {}; });
}

TEST_F(BadCase, OfAnotherSizeIsRefused) {
  ExpectRefused({"case case1: member 1", "(37, 40)", "(37, 41)"}, [](Case* c) {
    ArrayView view = c->members[1].view();
    view.shape = {kClasses, kHeight, kWidth - 1};
    c->members[1] = view;
  });
  ExpectRefused({"case case1: labels", "(37, 40)", "(37, 41)"}, [](Case* c) {
    ArrayView view = c->labels.view();
    view.shape = {kHeight, kWidth - 1};
    c->labels = view;
  });
  ExpectRefused({"case case1: mask", "(36, 41)", "(37, 41)"}, [](Case* c) {
    ArrayView view = c->mask.view();
    view.shape = {kHeight - 1, kWidth};
    c->mask = view;
  });
  ExpectRefused({"1 members", "first case has 2"}, [](Case* c) { c->members.pop_back(); });
}

TEST_F(BadCase, WithNansOrUnknownLabelsIsRefused) {
  std::vector<float> values = scene_->logits[1][0];
  values[2 * kVoxels + 5] = NAN;
  ExpectRefused({"case case1: member 0", "voxel (0, 5)", "NaN"}, [&](Case* c) {
    c->members[0] = MakeView(values.data(), {kClasses, kHeight, kWidth});
  });
  std::vector<int32_t> labels = scene_->labels[1];
  labels[7] = kClasses;
  ExpectRefused({"case case1: labels", "label 4", "[0, 4)"}, [&](Case* c) {
    c->labels = MakeView(labels.data(), {kHeight, kWidth});
  });
}

TEST_F(BadCase, WithoutAKindOfInputIsRefused) {
  Dataset dataset = scene_->InMemory();
  dataset.input.reset();
  ExpectError(ErrorCode::kInvalidArgument, {"\"scene\"", "input", "not stated"}, [&] {
    Fit(dataset, "ts(z)");
  });
}

TEST_F(BadCase, CannotBeWrittenToADataSetFile) {
  ExpectError(ErrorCode::kInvalidArgument, {"case case0", "in memory"}, [&] {
    SaveDataset(folder_->File("memory.json"), scene_->InMemory());
  });
}

}  // namespace
}  // namespace segcal
