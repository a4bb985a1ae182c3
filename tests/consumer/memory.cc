// SPDX-License-Identifier: Apache-2.0
// consumer_memory FOLDER: the functions of the pages on arrays in memory; leaves the same values
// in files and the models fitted to them in FOLDER, for a byte comparison with the program's.
#include <segcal/segcal.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

// Defined in the README,
segcal::Model FitAndApply(const float* logits,
                          const uint8_t* labels,
                          int64_t height,
                          int64_t width,
                          float* probabilities);
// and in docs/cpp.md.
segcal::Model Calibrate(const std::vector<const float*>& logits,
                        const std::vector<const uint8_t*>& labels,
                        const std::vector<std::string>& classes,
                        int64_t height,
                        int64_t width);
void Deploy(const segcal::Model& model,
            const float* logits,
            int64_t height,
            int64_t width,
            float* probabilities,
            uint8_t* labels);

namespace {

using segcal::DType;

constexpr int64_t kClasses = 4;
constexpr int64_t kHeight = 61;
constexpr int64_t kWidth = 47;
constexpr int64_t kVoxels = kHeight * kWidth;
constexpr size_t kCases = 3;

struct Image {
  std::vector<float> logits;  // multiples of 1/64 within 8, which float16 holds
  std::vector<uint8_t> labels;
};

// Noise of a linear congruential generator, in [0, 1).
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  double Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 40) / 0x1p24;
  }

 private:
  uint64_t state_;
};

Image MakeImage(uint64_t seed) {
  Noise noise(seed);
  Image image{std::vector<float>(kClasses * kVoxels), std::vector<uint8_t>(kVoxels)};
  for (int64_t v = 0; v < kVoxels; ++v) {
    double best = -1e9;
    for (int64_t c = 0; c < kClasses; ++c) {
      const double z = std::floor((noise.Next() - 0.5) * 1024) / 64;
      image.logits[static_cast<size_t>(c * kVoxels + v)] = static_cast<float>(z);
      const double drawn = 0.4 * z - std::log(-std::log(noise.Next() + 1e-9));
      if (drawn > best) image.labels[static_cast<size_t>(v)] = static_cast<uint8_t>(c);
      best = std::fmax(best, drawn);
    }
  }
  return image;
}

// A version 1.0 .npy file.
void SaveNpy(const std::string& path,
             const std::string& type,
             const std::string& shape,
             const void* data,
             size_t bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
  const auto size = static_cast<uint16_t>(header.size());
  std::ofstream file(path, std::ios::binary);
  file.write(start, sizeof(start)).write(reinterpret_cast<const char*>(&size), 2) << header;
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

// The float16 bits of a value that float16 holds exactly.
uint16_t HalfBits(float value) {
  if (value == 0.0f) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);
  const auto mantissa = static_cast<uint16_t>(std::ldexp(fraction, 11));
  const auto sign = static_cast<uint16_t>(value < 0.0f ? 0x8000 : 0);
  return static_cast<uint16_t>(sign | ((exponent + 14) << 10) | (mantissa & 0x3FF));
}

// Images, and where each of their arrays is taken from.
struct Example {
  std::vector<Image> images = {};
  std::vector<std::string> files = {};  // of the logits
  std::string folder;
};

Example MakeExample(const std::string& folder) {
  Example example{.folder = folder};
  const std::string spatial = std::to_string(kHeight) + ", " + std::to_string(kWidth);
  for (size_t i = 0; i < kCases; ++i) {
    example.images.push_back(MakeImage(i + 1));
    const Image& image = example.images.back();
    example.files.push_back("logits" + std::to_string(i) + ".npy");
    SaveNpy(folder + "/" + example.files[i],
            "<f4",
            std::to_string(kClasses) + ", " + spatial,
            image.logits.data(),
            image.logits.size() * 4);
    SaveNpy(folder + "/labels" + std::to_string(i) + ".npy",
            "|u1",
            spatial,
            image.labels.data(),
            image.labels.size());
  }
  return example;
}

// The data set with the logits of each case from `logits(i)`, the labels from files or memory.
template <class Logits>
segcal::Dataset MakeDataset(const Example& example, bool files, const Logits& logits) {
  segcal::Dataset dataset{.name = "",
                          .classes = {"road", "car", "sky", "tree"},
                          .input = segcal::InputKind::kLogits,
                          .folder = example.folder};
  for (size_t i = 0; i < kCases; ++i) {
    segcal::Case entry{.id = std::to_string(i), .members = {logits(i)}};
    if (files) {
      entry.labels = "labels" + std::to_string(i) + ".npy";
    } else {
      entry.labels = segcal::MakeView(example.images[i].labels.data(), {kHeight, kWidth});
    }
    dataset.cases.push_back(std::move(entry));
  }
  return dataset;
}

void SaveModel(const Example& example, const char* name, const segcal::Dataset& dataset) {
  segcal::Fit(dataset, "cms_ap(z)").model.Save(example.folder + "/" + name + ".json");
}

// The same values as float16, as float64 in (H, W, C) order, and one case from its file.
void SaveModelsOfOtherStorage(const Example& example) {
  std::vector<std::vector<uint16_t>> half(kCases);
  std::vector<std::vector<double>> last(kCases);
  for (size_t i = 0; i < kCases; ++i) {
    const std::vector<float>& logits = example.images[i].logits;
    for (const float z : logits) half[i].push_back(HalfBits(z));
    last[i].resize(logits.size());
    for (size_t j = 0; j < logits.size(); ++j)
      last[i][j % kVoxels * kClasses + j / kVoxels] = static_cast<double>(logits[j]);
  }
  const std::vector<int64_t> shape = {kClasses, kHeight, kWidth};
  SaveModel(example, "half", MakeDataset(example, false, [&](size_t i) -> segcal::ArraySource {
              return segcal::ArrayView{
                  .data = half[i].data(), .dtype = DType::kF16, .shape = shape};
            }));
  SaveModel(
      example, "strided", MakeDataset(example, false, [&](size_t i) -> segcal::ArraySource {
        return segcal::ChannelsFirst(segcal::MakeView(last[i].data(), {kHeight, kWidth, kClasses}));
      }));
  SaveModel(example, "mixed", MakeDataset(example, true, [&](size_t i) -> segcal::ArraySource {
              if (i == 1) return example.files[i];
              return segcal::MakeView(example.images[i].logits.data(), shape);
            }));
}

bool LabelsAreTheLargest(const std::vector<float>& probabilities,
                         const std::vector<uint8_t>& labels) {
  for (size_t v = 0; v < labels.size(); ++v) {
    for (int64_t c = 0; c < kClasses; ++c) {
      if (c != labels[v] && probabilities[static_cast<size_t>(c * kVoxels) + v] >=
                                probabilities[static_cast<size_t>(labels[v] * kVoxels) + v])
        return false;
    }
  }
  return true;
}

// The README's function fits and applies in one: what it does is what the two of docs/cpp.md do.
bool ReadmeFitsAndApplies(const Image& image) {
  std::vector<float> probabilities(image.logits.size());
  const segcal::Model model =
      FitAndApply(image.logits.data(), image.labels.data(), kHeight, kWidth, probabilities.data());
  std::vector<float> deployed(image.logits.size());
  std::vector<uint8_t> labels(kVoxels);
  Deploy(model, image.logits.data(), kHeight, kWidth, deployed.data(), labels.data());
  return model.report().nll_after < model.report().nll_before && probabilities == deployed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::filesystem::create_directories(argv[1]);
  const Example example = MakeExample(argv[1]);
  segcal::SaveDataset(example.folder + "/dataset.json",
                      MakeDataset(example, true, [&](size_t i) -> segcal::ArraySource {
                        return example.files[i];
                      }));
  std::vector<const float*> logits;
  std::vector<const uint8_t*> labels;
  for (const Image& image : example.images) {
    logits.push_back(image.logits.data());
    labels.push_back(image.labels.data());
  }
  const segcal::Model model =
      Calibrate(logits, labels, {"road", "car", "sky", "tree"}, kHeight, kWidth);
  model.Save(example.folder + "/memory.json");
  SaveModelsOfOtherStorage(example);
  std::vector<float> probabilities(kClasses * kVoxels);
  std::vector<uint8_t> decided(kVoxels);
  Deploy(model, logits[0], kHeight, kWidth, probabilities.data(), decided.data());
  const bool good = LabelsAreTheLargest(probabilities, decided) &&
                    ReadmeFitsAndApplies(example.images[0]) &&
                    model.report().nll_after < model.report().nll_before;
  std::puts(good ? "consumer_memory: ok" : "consumer_memory: FAILED");
  return good ? 0 : 1;
}
