// SPDX-License-Identifier: Apache-2.0
#include "calibrators/list.h"

#include "core/throw.h"

namespace segcal {

extern const CalibratorInfo kNone, kTemperature, kEnsembleTemperature;
extern const CalibratorInfo kVector, kMatrix, kConstrainedMatrix, kDirichlet;
extern const CalibratorInfo kConditionalDirichlet, kConditionalArgmax, kConditionalOrder;
extern const CalibratorInfo kPooledIsotonic, kClasswiseIsotonic, kHistogramBinning;
extern const CalibratorInfo kMetaCal, kMetaCalStar, kSelective;
extern const CalibratorInfo kLocalTemperature, kLocalTemperatureRaw, kLocalTemperatureImage;
extern const CalibratorInfo kImageTemperature;

namespace {

constexpr const CalibratorInfo* kCalibrators[] = {
    &kNone,
    &kTemperature,
    &kEnsembleTemperature,
    &kVector,
    &kMatrix,
    &kConstrainedMatrix,
    &kDirichlet,
    &kConditionalDirichlet,
    &kConditionalArgmax,
    &kConditionalOrder,
    &kPooledIsotonic,
    &kClasswiseIsotonic,
    &kHistogramBinning,
    &kMetaCal,
    &kMetaCalStar,
    &kSelective,
    &kLocalTemperature,
    &kLocalTemperatureRaw,
    &kLocalTemperatureImage,
    &kImageTemperature,
};

// The options of one stage: its own "stage.key" and, for the last, those without a stage.
OptionMap SelectOptions(const std::string& stage, bool last, const OptionMap& options) {
  OptionMap own;
  const auto take = [&](const std::string& key, const std::string& value) {
    if (own.emplace(key, value).second) return;
    Throw(ErrorCode::kInvalidArgument,
          "option \"{}\" is given twice, as \"{}\" and as \"{}.{}\"",
          key,
          key,
          stage,
          key);
  };
  for (const auto& [key, value] : options) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos && last) take(key, value);
    if (dot != std::string::npos && key.substr(0, dot) == stage) take(key.substr(dot + 1), value);
  }
  return own;
}

void CheckStagesOfOptions(const std::vector<std::string>& stages, const OptionMap& options) {
  for (const auto& [key, value] : options) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos) continue;
    bool known = false;
    for (const std::string& stage : stages) known = known || key.substr(0, dot) == stage;
    if (!known)
      Throw(ErrorCode::kInvalidArgument, "option \"{}\" names no stage of the pipeline", key);
  }
}

}  // namespace

const std::vector<const CalibratorInfo*>& Calibrators() {
  static const std::vector<const CalibratorInfo*> list(std::begin(kCalibrators),
                                                       std::end(kCalibrators));
  return list;
}

const CalibratorInfo& FindCalibrator(const std::string& name) {
  std::vector<std::string> names;
  for (const CalibratorInfo* info : Calibrators()) {
    if (name == info->name) return *info;
    names.emplace_back(info->name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown calibrator \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

OptionMap OptionsOfLastStage(const std::vector<std::string>& stages, const OptionMap& options) {
  return SelectOptions(stages.back(), /*last=*/true, options);
}

std::unique_ptr<Calibrator> MakeCalibrator(const std::vector<std::string>& stages,
                                           const OptionMap& options) {
  CheckStagesOfOptions(stages, options);
  std::unique_ptr<Calibrator> calibrator;
  for (size_t i = stages.size(); i-- > 0;) {
    const CalibratorInfo& info = FindCalibrator(stages[i]);
    const bool last = i + 1 == stages.size();
    if (!last && !info.composes) {
      Throw(ErrorCode::kInvalidArgument,
            "\"{}\" cannot stand before a +: it takes no base calibrator",
            stages[i]);
    }
    calibrator = info.make(SelectOptions(stages[i], last, options), std::move(calibrator));
  }
  return calibrator;
}

}  // namespace segcal
