// SPDX-License-Identifier: Apache-2.0
#include "simulate/true_map.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/throw.h"

namespace segcal {
namespace {

// eta = S(z / T).
class TemperatureMap : public TrueMap {
 public:
  explicit TemperatureMap(double temperature) : temperature_(temperature) {}

  void Scores(const TrueMapInput& in, std::span<double> out) const noexcept override {
    for (size_t c = 0; c < out.size(); ++c) out[c] = in.logits[c] / temperature_;
  }
  Json Describe() const override { return {{"temperature", temperature_}}; }

 private:
  double temperature_;
};

// eta = S(W z + b). All rows of W sum to 1/T, so an offset of z shifts all scores alike.
class AffineMap : public TrueMap {
 public:
  explicit AffineMap(const TrueMapOptions& options)
      : num_classes_(options.num_classes),
        weights_(static_cast<size_t>(num_classes_ * num_classes_)),
        bias_(static_cast<size_t>(num_classes_)) {
    Rng rng = options.rng;
    const double beta = 1.0 / options.temperature;
    // Entries of size 1 / sqrt(C): the disturbance of a score does not grow with the classes.
    const double size = beta * options.variation / std::sqrt(static_cast<double>(num_classes_));
    for (int64_t j = 0; j < num_classes_; ++j) {
      const std::span<double> row = Row(j);
      for (double& w : row) w = size * rng.Normal();
      double mean = 0.0;
      for (const double w : row) mean += w / static_cast<double>(num_classes_);
      for (double& w : row) w -= mean;
      row[static_cast<size_t>(j)] += beta;
      bias_[static_cast<size_t>(j)] = options.variation * rng.Normal();
    }
  }

  void Scores(const TrueMapInput& in, std::span<double> out) const noexcept override {
    for (int64_t j = 0; j < num_classes_; ++j) {
      const double* row = weights_.data() + j * num_classes_;
      double score = bias_[static_cast<size_t>(j)];
      for (int64_t k = 0; k < num_classes_; ++k)
        score += row[k] * in.logits[static_cast<size_t>(k)];
      out[static_cast<size_t>(j)] = score;
    }
  }
  Json Describe() const override {
    Json rows = Json::array();
    for (int64_t j = 0; j < num_classes_; ++j) {
      const double* row = weights_.data() + j * num_classes_;
      rows.push_back(std::vector<double>(row, row + num_classes_));
    }
    return {{"weights", rows}, {"bias", bias_}};
  }

 private:
  std::span<double> Row(int64_t j) noexcept {
    return std::span(weights_).subspan(static_cast<size_t>(j * num_classes_),
                                       static_cast<size_t>(num_classes_));
  }

  int64_t num_classes_;
  std::vector<double> weights_;  // [to][from]
  std::vector<double> bias_;
};

// eta = S(beta_i z - h_i), i = argmax z, h_i >= 0 and 0 at i: the argmax keeps its place.
class ClassConditionalMap : public TrueMap {
 public:
  explicit ClassConditionalMap(const TrueMapOptions& options) {
    Rng rng = options.rng;
    for (int64_t i = 0; i < options.num_classes; ++i) {
      temperature_.push_back(options.temperature * std::exp(options.variation * rng.Normal()));
      std::vector<double> handicap(static_cast<size_t>(options.num_classes));
      for (double& h : handicap) h = options.variation * std::fabs(rng.Normal());
      handicap[static_cast<size_t>(i)] = 0.0;
      handicap_.push_back(std::move(handicap));
    }
  }

  void Scores(const TrueMapInput& in, std::span<double> out) const noexcept override {
    const auto i = static_cast<size_t>(in.decision);
    for (size_t c = 0; c < out.size(); ++c) {
      out[c] = in.logits[c] / temperature_[i] - handicap_[i][c];
    }
  }
  Json Describe() const override {
    return {{"temperature", temperature_}, {"handicap", handicap_}};
  }

 private:
  std::vector<double> temperature_;
  std::vector<std::vector<double>> handicap_;
};

double SoftplusInverse(double y) noexcept { return std::log(std::expm1(y)); }
double Softplus(double x) noexcept {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

// eta = S(z / T_v), T_v = softplus(t_low + (t_high - t_low) sigmoid((s_v - centre) / width)), s_v
// the local sharpness. Unclear places, s near 0, have the high temperature. This is a local
// temperature tree with constant leaves, so a fit of that family can be exact.
class TemperatureFieldMap : public TrueMap {
 public:
  explicit TemperatureFieldMap(const TrueMapOptions& options) {
    const double ratio = 1.0 + options.variation;
    low_ = SoftplusInverse(options.temperature / ratio);
    high_ = SoftplusInverse(options.temperature * ratio);
    // The mean log-probability is about -gap (C-1)/C in a clear region and half that on a boundary.
    const auto classes = static_cast<double>(options.num_classes);
    const double clear = options.typical_gap * (classes - 1.0) / classes;
    centre_ = -0.75 * clear;
    width_ = 0.08 * std::max(clear, 1.0);
  }

  bool NeedsNeighbours() const noexcept override { return true; }
  void Scores(const TrueMapInput& in, std::span<double> out) const noexcept override {
    const double gate = 1.0 / (1.0 + std::exp(-(in.local_sharpness - centre_) / width_));
    const double temperature = Softplus(low_ + (high_ - low_) * gate);
    for (size_t c = 0; c < out.size(); ++c) out[c] = in.logits[c] / temperature;
  }
  Json Describe() const override {
    return {{"leaf_low", low_}, {"leaf_high", high_}, {"centre", centre_}, {"width", width_}};
  }

 private:
  double low_ = 0.0;
  double high_ = 0.0;
  double centre_ = 0.0;
  double width_ = 1.0;
};

template <class Map>
std::unique_ptr<TrueMap> Make(const TrueMapOptions& options) {
  return std::make_unique<Map>(options);
}

std::unique_ptr<TrueMap> MakeIdentity(const TrueMapOptions&) {
  return std::make_unique<TemperatureMap>(1.0);
}

std::unique_ptr<TrueMap> MakeTemperature(const TrueMapOptions& options) {
  return std::make_unique<TemperatureMap>(options.temperature);
}

int64_t Reflect(int64_t i, int64_t n) noexcept {
  if (n <= 4) return std::clamp<int64_t>(i, 0, n - 1);
  if (i < 0) return -i;
  return i < n ? i : 2 * (n - 1) - i;
}

}  // namespace

const std::vector<TrueMapInfo>& TrueMaps() {
  static const std::vector<TrueMapInfo> maps = {
      {"identity", "the stored prediction is already right", &MakeIdentity},
      {"temperature", "one temperature for all voxels", &MakeTemperature},
      {"affine", "a matrix near a temperature, and a bias", &Make<AffineMap>},
      {"class_conditional",
       "a temperature and a bias per predicted class",
       &Make<ClassConditionalMap>},
      {"temperature_field",
       "a temperature per voxel, from the logits around it",
       &Make<TemperatureFieldMap>},
  };
  return maps;
}

std::unique_ptr<TrueMap> MakeTrueMap(const std::string& name, const TrueMapOptions& options) {
  std::string known;
  for (const TrueMapInfo& map : TrueMaps()) {
    if (name == map.name) return map.make(options);
    known += (known.empty() ? "" : ", ") + std::string(map.name);
  }
  Throw(ErrorCode::kInvalidArgument, "true map \"{}\" is unknown; known are {}", name, known);
}

int64_t ArgMax(std::span<const double> values) noexcept {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

void LogSoftmax(std::span<double> scores) noexcept {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (const double s : scores) sum += std::exp(s - top);
  const double shift = top + std::log(sum);
  for (double& s : scores) s -= shift;
}

std::vector<double> LocalSharpness(const std::vector<int64_t>& shape,
                                   const std::vector<double>& sharpness,
                                   int num_threads) {
  const int64_t height = shape[shape.size() - 2];
  const int64_t width = shape.back();
  const int64_t num_rows = static_cast<int64_t>(sharpness.size()) / width;
  std::vector<double> out(sharpness.size());
  ParallelFor(num_rows, num_threads, [&](int64_t row, int) {
    const int64_t y = row % height;
    const double* plane = sharpness.data() + (row - y) * width;
    for (int64_t x = 0; x < width; ++x) {
      double sum = 0.0;
      for (int64_t dy = -4; dy <= 4; dy += 2) {
        const double* line = plane + Reflect(y + dy, height) * width;
        for (int64_t dx = -4; dx <= 4; dx += 2) sum += line[Reflect(x + dx, width)];
      }
      out[static_cast<size_t>(row * width + x)] = sum / 25.0;
    }
  });
  return out;
}

}  // namespace segcal
