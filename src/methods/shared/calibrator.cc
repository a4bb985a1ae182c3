// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/calibrator.h"

#include <algorithm>

#include "core/throw.h"

namespace segcal {
namespace {

class BoundPixelCalibrator final : public BoundCalibrator {
 public:
  explicit BoundPixelCalibrator(const PixelCalibrator& calibrator) : calibrator_(calibrator) {}
  void Apply(const Tile& tile, const TileProbs& out) const override {
    calibrator_.ApplyTile(tile, out);
  }
  bool Temperature(const Tile& tile, float* out) const override {
    return calibrator_.TemperatureTile(tile, out);
  }

 private:
  const PixelCalibrator& calibrator_;
};

}  // namespace

BindOptions MakeBindOptions(const CaseStream& stream) {
  const auto at_once = static_cast<int>(
      std::clamp<int64_t>(stream.num_cases(), 1, std::max<int64_t>(1, stream.num_workers())));
  return {.threads = std::max(1, stream.num_workers() / at_once),
          .memory = stream.memory() / 8 / at_once};
}

std::string Calibrator::AddToGraph(const GraphInput&, OnnxBuilder*) const {
  Throw(ErrorCode::kUnsupported, "this calibrator cannot be exported to ONNX");
}

std::unique_ptr<BoundCalibrator> PixelCalibrator::Bind(const CaseReader&,
                                                       const Pooling&,
                                                       const BindOptions&) const {
  return std::make_unique<BoundPixelCalibrator>(*this);
}

}  // namespace segcal
