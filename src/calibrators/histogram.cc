// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/json.h"
#include "core/options.h"
#include "core/throw.h"
#include "data/reduce.h"
#include "kernels/bins.h"
#include "kernels/softmax.h"
#include "methods/shared/applied_loss.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/class_cells.h"
#include "methods/shared/emit_buffer.h"
#include "methods/shared/graph.h"
#include "methods/shared/map_probs.h"

namespace segcal {
namespace {

struct HistogramOptions {
  int64_t bins = 15;
  // "width": equal parts of [0, 1] (HB1). "mass": equal numbers of voxels, class by class (HB2).
  std::string edges = "width";
  // Trials added to every bin, half of them successes (HB3).
  double smoothing = 1.0;
  // Distinct probabilities kept apart, over all classes, when edges are found by mass.
  int64_t cells = 262144;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("bins", self.bins, Between(1, 10000));
    field("edges", self.edges, OneOf({"width", "mass"}));
    field("smoothing", self.smoothing, Between(0.0, 1e6));
    field("cells", self.cells, Between(1000, 1e8));
  }
};

// The bins of one class: (upper[k-1], upper[k]], the first from 0, the last up to 1.
struct Histogram {
  std::vector<float> upper;
  std::vector<double> values;

  double At(float p) const noexcept {
    const auto bin = std::lower_bound(upper.begin(), upper.end(), p) - upper.begin();
    return values[std::min(static_cast<size_t>(bin), values.size() - 1)];
  }
};

double Smoothed(int64_t hits, int64_t count, double prior) {
  return (static_cast<double>(hits) + 0.5 * prior) / (static_cast<double>(count) + prior);
}

std::vector<float> EqualEdges(int64_t bins) {
  std::vector<float> upper;
  for (int64_t k = 1; k <= bins; ++k) {
    upper.push_back(static_cast<float>(static_cast<double>(k) / static_cast<double>(bins)));
  }
  return upper;
}

// Counts and hits of every class and bin.
struct BinTotals {
  explicit BinTotals(size_t num_bins) : pending(num_bins), counts(num_bins), hits(num_bins) {}

  void Flush() noexcept {
    for (size_t k = 0; k < pending.size(); ++k) {
      counts[k] += pending[k].count;
      hits[k] += pending[k].correct;
      pending[k] = {};
    }
  }
  static constexpr auto SumFields() { return std::tuple(&BinTotals::counts, &BinTotals::hits); }

  std::vector<BinSums> pending;
  std::vector<int64_t> counts;
  std::vector<int64_t> hits;
};

// Equal parts of [0, 1] (HB1). A bin that no voxel fell into gets its middle: it has learnt
// nothing.
std::vector<Histogram> FitByWidth(const FitContext& context, const HistogramOptions& options) {
  const std::vector<float> upper = EqualEdges(options.bins);
  const auto num_classes = static_cast<size_t>(context.stream.dataset().num_classes());
  const auto add = [&](const Tile& tile, int64_t, BinTotals* totals) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    SoftmaxTile(tile, 1.0, out);
    AddClasswiseBins(
        out.probs, tile.labels, tile.num_classes, {.upper = upper}, totals->pending.data());
  };
  const BinTotals totals = ReduceTiles(
      context.stream, "fit hist", context.pooling, BinTotals(num_classes * upper.size()), add);
  std::vector<Histogram> histograms(num_classes, {.upper = upper, .values = {}});
  for (size_t i = 0; i < totals.counts.size(); ++i) {
    const double middle =
        (static_cast<double>(i % upper.size()) + 0.5) / static_cast<double>(upper.size());
    histograms[i / upper.size()].values.push_back(
        totals.counts[i] == 0 ? middle
                              : Smoothed(totals.hits[i], totals.counts[i], options.smoothing));
  }
  return histograms;
}

// Cells in order, cut where the share of the voxels seen passes a multiple of 1 / bins (HB2); a
// cell is never divided, so one that holds many shares takes the place of several bins.
Histogram ByMass(const std::vector<ProbCell>& cells, const HistogramOptions& options) {
  int64_t total = 0;
  for (const ProbCell& cell : cells) total += cell.count;
  const double shares = static_cast<double>(options.bins) / static_cast<double>(total);
  Histogram histogram;
  int64_t count = 0;
  int64_t hits = 0;
  int64_t seen = 0;
  double next = 1.0;
  for (const ProbCell& cell : cells) {
    count += cell.count;
    hits += cell.hits;
    seen += cell.count;
    const double share = shares * static_cast<double>(seen);
    const bool last = seen == total;
    if (share < next && !last) continue;
    histogram.upper.push_back(last ? 1.0f : cell.upper);
    histogram.values.push_back(Smoothed(hits, count, options.smoothing));
    count = hits = 0;
    next = std::floor(share) + 1.0;
  }
  return histogram;
}

std::vector<Histogram> FitByMass(const FitContext& context, const HistogramOptions& options) {
  std::vector<Histogram> histograms;
  for (const ProbCells& cells : CountProbs(context, true, options.cells, "fit hist")) {
    histograms.push_back(ByMass(cells.Sorted(), options));
  }
  return histograms;
}

Histogram ReadHistogram(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  const std::vector<double> upper = object.Numbers("upper");
  Histogram read{.upper = {}, .values = object.Numbers("values")};
  object.Finish();
  if (upper.empty() || upper.size() != read.values.size()) {
    Throw(ErrorCode::kBadData,
          "{}: {} upper and {} values, at least one and as many of each are required",
          where,
          upper.size(),
          read.values.size());
  }
  for (size_t k = 0; k < upper.size(); ++k) {
    const double below = k == 0 ? 0.0 : upper[k - 1];
    const bool first_empty = k == 0 && upper[k] == 0.0;
    const bool ascends = upper[k] > below || first_empty;
    if (!ascends || upper[k] > 1.0 ||
        static_cast<double>(static_cast<float>(upper[k])) != upper[k]) {
      Throw(ErrorCode::kBadData,
            "{}: upper[{}] is {}, ascending float32 values in [0, 1] are required",
            where,
            k,
            upper[k]);
    }
    if (!(read.values[k] >= 0.0 && read.values[k] <= 1.0)) {
      Throw(ErrorCode::kBadData,
            "{}: values[{}] is {}, a value in [0, 1] is required",
            where,
            k,
            read.values[k]);
    }
    read.upper.push_back(static_cast<float>(upper[k]));
  }
  return read;
}

// q_c proportional to the frequency of class c among the voxels with p_c in the same bin (HB1-HB4).
class HistogramBinning final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "hist";
  explicit HistogramBinning(const HistogramOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true, .preserves = Preserves::kNone};
  }
  ParameterCounts counts(int64_t num_classes) const override {
    return {.optimised = num_classes * options_.bins, .identifiable = num_classes * options_.bins};
  }

  FitOutcome Fit(const FitContext& context) override {
    histograms_ =
        options_.edges == "mass" ? FitByMass(context, options_) : FitByWidth(context, options_);
    FitOutcome outcome;
    outcome.solver = "counts";
    outcome.status = FitStatus::kConverged;
    outcome.passes = 3;  // the survey, the counts, the loss
    outcome.nll_after = AppliedLoss(context, *this, "fit hist, loss");
    return outcome;
  }

  Json Parameters() const override {
    Json classes = Json::array();
    for (const Histogram& histogram : histograms_) {
      const std::vector<double> upper(histogram.upper.begin(), histogram.upper.end());
      classes.push_back({{"upper", upper}, {"values", histogram.values}});
    }
    return {{"classes", classes}};
  }

  void SetParameters(const Json& json, int64_t num_classes, const std::string& where) override {
    JsonObject object(json, where);
    const Json& classes = object.Array("classes");
    object.Finish();
    if (static_cast<int64_t>(classes.size()) != num_classes) {
      Throw(ErrorCode::kBadData,
            "{}: {} classes, {} are required",
            where,
            classes.size(),
            num_classes);
    }
    std::vector<Histogram> histograms;
    for (const Json& one : classes) {
      histograms.push_back(
          ReadHistogram(one, fmt::format("{}: classes[{}]", where, histograms.size())));
    }
    histograms_ = std::move(histograms);
  }

  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SEGCAL_DCHECK(!histograms_.empty());
    const auto g = [this](int64_t c, float p) { return histograms_[static_cast<size_t>(c)].At(p); };
    MapProbsTile(tile, g, out);
  }
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    SEGCAL_DCHECK(!histograms_.empty());
    GraphTable uppers;
    std::vector<std::vector<float>> values;
    for (const Histogram& histogram : histograms_) {
      uppers.keys.push_back(histogram.upper);
      values.emplace_back(histogram.values.begin(), histogram.values.end());
    }
    const std::string probs = g->Softmax(in.logits);
    return RenormaliseInGraph(GraphSearch(uppers, probs, g).AtFirstAbove(values), probs, g);
  }

 private:
  HistogramOptions options_;
  std::vector<Histogram> histograms_;
};

}  // namespace

extern constinit const CalibratorInfo kHistogramBinning{
    .name = "hist",
    .summary = "Gives each class its frequency in the bin of its probability, then renormalises.",
    .reference = "Zadrozny01",
    .page = "histogram",
    .default_options = &DefaultOptions<HistogramOptions>,
    .make = &MakeWith<HistogramBinning, HistogramOptions>};

}  // namespace segcal
