// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scene_files.h"

#include <cstring>
#include <filesystem>

#include "core/half.h"
#include "core/throw.h"
#include "formats/array.h"

namespace segcal::testing {
namespace {

template <class T>
void AppendAs(float value, std::vector<std::byte>* bytes) {
  const T converted = static_cast<T>(value);
  const auto* begin = reinterpret_cast<const std::byte*>(&converted);
  bytes->insert(bytes->end(), begin, begin + sizeof(T));
}

void AppendHalf(float value, std::vector<std::byte>* bytes) {
  const uint16_t half = HalfFromFloat(value);
  const auto* begin = reinterpret_cast<const std::byte*>(&half);
  bytes->insert(bytes->end(), begin, begin + sizeof(half));
}

auto AppenderFor(DType dtype) -> void (*)(float, std::vector<std::byte>*) {
  switch (dtype) {
    case DType::kF16:
      return &AppendHalf;
    case DType::kF32:
      return &AppendAs<float>;
    case DType::kF64:
      return &AppendAs<double>;
    case DType::kU8:
    case DType::kBool:
      return &AppendAs<uint8_t>;
    case DType::kI8:
      return &AppendAs<int8_t>;
    case DType::kU16:
      return &AppendAs<uint16_t>;
    case DType::kI16:
      return &AppendAs<int16_t>;
    case DType::kU32:
      return &AppendAs<uint32_t>;
    case DType::kI32:
      return &AppendAs<int32_t>;
    case DType::kU64:
      return &AppendAs<uint64_t>;
    case DType::kI64:
      return &AppendAs<int64_t>;
    case DType::kBF16:
      break;  // no file has it
  }
  return nullptr;
}

template <class T>
std::vector<T> ReadAll(const std::string& path, DType dtype) {
  const auto array = OpenArray(path);
  if (array->info().dtype != dtype) {
    Throw(ErrorCode::kBadData,
          "{}: {}, the test wants {}",
          path,
          Name(array->info().dtype),
          Name(dtype));
  }
  std::vector<T> values(static_cast<size_t>(array->info().NumElements()));
  array->Read(0, array->info().NumElements(), values.data());
  return values;
}

std::string WriteMember(const Scene& scene,
                        const std::vector<float>& values,
                        const std::string& folder,
                        const std::string& name,
                        const SceneFileOptions& options) {
  const int64_t num_classes = scene.dataset.num_classes();
  ArrayInfo info{.dtype = options.dtype, .shape = scene.shape, .spacing = {}};
  info.shape.insert(options.channels_last ? info.shape.end() : info.shape.begin(), num_classes);
  const auto ordered = options.channels_last ? ChannelsLast(values, num_classes) : values;
  SaveArray(folder + "/" + name, info, ConvertTo(options.dtype, ordered).data());
  return name;
}

}  // namespace

std::vector<std::byte> ConvertTo(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  const auto append = AppenderFor(dtype);
  for (const float value : values) append(value, &bytes);
  return bytes;
}

std::vector<float> ChannelsLast(const std::vector<float>& values, int64_t num_classes) {
  const auto channels = static_cast<size_t>(num_classes);
  const size_t voxels = values.size() / channels;
  std::vector<float> result(values.size());
  for (size_t c = 0; c < channels; ++c) {
    for (size_t v = 0; v < voxels; ++v) result[v * channels + c] = values[c * voxels + v];
  }
  return result;
}

Dataset WriteScene(const Scene& scene, const std::string& folder, const SceneFileOptions& options) {
  Dataset dataset = scene.dataset;
  std::filesystem::create_directories(folder);
  dataset.folder = folder;
  if (options.channels_last) dataset.layout = Layout::kChannelsLast;
  for (size_t i = 0; i < dataset.cases.size(); ++i) {
    Case& entry = dataset.cases[i];
    const std::string name = "case" + std::to_string(i);
    entry.members.clear();
    for (size_t m = 0; m < scene.logits[i].size(); ++m) {
      const std::string file = name + "_m" + std::to_string(m) + ".npy";
      entry.members.push_back(WriteMember(scene, scene.logits[i][m], folder, file, options));
    }
    const ArrayInfo labels{.dtype = DType::kI32, .shape = scene.shape, .spacing = {}};
    entry.labels = name + "_labels.npy";
    SaveArray(folder + "/" + entry.labels.path(), labels, scene.labels[i].data());
    if (scene.masks.empty()) continue;
    const ArrayInfo mask{.dtype = DType::kU8, .shape = scene.shape, .spacing = {}};
    entry.mask = name + "_mask.npy";
    SaveArray(folder + "/" + entry.mask.path(), mask, scene.masks[i].data());
  }
  SaveDataset(folder + "/dataset.json", dataset);
  return LoadDataset(folder);
}

std::vector<float> ReadFloats(const std::string& path) { return ReadAll<float>(path, DType::kF32); }

std::vector<float> ReadHalves(const std::string& path) {
  std::vector<float> values;
  for (const uint16_t half : ReadAll<uint16_t>(path, DType::kF16))
    values.push_back(FloatFromHalf(half));
  return values;
}

std::vector<int32_t> Argmax(const std::vector<float>& values, int64_t num_classes) {
  const size_t voxels = values.size() / static_cast<size_t>(num_classes);
  std::vector<int32_t> best(voxels, 0);
  for (size_t c = 1; c < static_cast<size_t>(num_classes); ++c) {
    for (size_t v = 0; v < voxels; ++v) {
      if (values[c * voxels + v] > values[static_cast<size_t>(best[v]) * voxels + v])
        best[v] = static_cast<int32_t>(c);
    }
  }
  return best;
}

}  // namespace segcal::testing
