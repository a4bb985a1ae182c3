// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "data/case_reader.h"
#include "data/stream.h"
#include "kernels/tile.h"
#include "methods/shared/fit_context.h"
#include "methods/shared/properties.h"
#include "segcal/fit_report.h"

namespace segcal {

struct GraphInput;
class OnnxBuilder;

// What binding a calibrator to a case may use. The result does not depend on it.
struct BindOptions {
  int threads = 1;
  int64_t memory = int64_t{64} << 20;  // bytes, beside what it keeps: a few numbers per voxel
};
// A share of what the stream may use, which has its own blocks to hold. Every worker may be binding
// a case of its own: they share threads and memory.
BindOptions MakeBindOptions(const CaseStream& stream);

// A calibrator bound to one case: from here on tiles are independent of each other.
class BoundCalibrator {
 public:
  virtual ~BoundCalibrator() = default;
  // Emits probabilities and the label's log-probability. Thread-safe.
  virtual void Apply(const Tile& tile, const TileProbs& out) const = 0;
  // Temperature by which each voxel's logits are divided, [kTileVoxels]; false for methods that do
  // something else.
  virtual bool Temperature(const Tile&, float*) const { return false; }
};

// A calibration method with its parameters, fitted or not.
class Calibrator {
 public:
  virtual ~Calibrator() = default;
  virtual Properties properties() const = 0;
  virtual Needs needs() const { return {}; }
  virtual ParameterCounts counts(int64_t num_classes) const = 0;
  // 1 / T of a method with a single temperature for all voxels.
  virtual std::optional<double> inverse_temperature() const { return std::nullopt; }

  virtual FitOutcome Fit(const FitContext& context) = 0;
  virtual Json Parameters() const = 0;
  // What of the declared properties can be read from the parameters alone; `verify` shows it.
  virtual std::vector<Claim> Claims() const { return {}; }
  // `where` names the model file in messages.
  virtual void SetParameters(const Json& json, int64_t num_classes, const std::string& where) = 0;

  // Adds the map to an ONNX graph; the name of the probabilities (N, C, spatial...), to which the
  // winner rule is still to be applied. An Error unless the method can be exported.
  virtual std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const;

  // Whatever has to be computed from the whole case happens here; the calibrator and the case
  // outlive the result.
  virtual std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                                const Pooling& pooling,
                                                const BindOptions& options) const = 0;
};

// A calibrator that needs nothing but the voxel: one function on a tile.
class PixelCalibrator : public Calibrator {
 public:
  virtual void ApplyTile(const Tile& tile, const TileProbs& out) const = 0;
  virtual bool TemperatureTile(const Tile&, float*) const { return false; }
  std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                        const Pooling& pooling,
                                        const BindOptions& options) const final;
};

}  // namespace segcal
