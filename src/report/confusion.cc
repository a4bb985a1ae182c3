// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/throw.h"
#include "report/before.h"
#include "report/colors.h"
#include "report/svg.h"
#include "report/text.h"
#include "segcal/figures.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

constexpr double kConfusionMargin = 24.0;
constexpr double kConfusionTitle = 54.0;
constexpr double kMostNameRoom = 130.0;
constexpr double kMatrixGap = 40.0;
constexpr size_t kMostNames = 40;    // more classes are drawn without names
constexpr size_t kMostNumbers = 24;  // and these without numbers
constexpr double kNameSize = 11.0;

// Shares of the voxels of each label, by prediction.
struct ConfusionMatrix {
  std::string title;
  std::vector<std::vector<double>> shares;  // [label][predicted], NaN for a label without voxels
};

ConfusionMatrix MakeMatrix(const std::string& title, const Diagram& diagram) {
  ConfusionMatrix matrix{.title = title, .shares = diagram.rows};
  for (std::vector<double>& row : matrix.shares) {
    double sum = 0.0;
    for (const double count : row) sum += count;
    for (double& count : row) count /= sum;
  }
  return matrix;
}

// The last pipeline's, after that of the uncalibrated prediction where calibration moved a voxel.
std::vector<ConfusionMatrix> Matrices(const EvaluateResult& result) {
  const size_t last = result.pipelines.size() - 1;
  const auto find = [&](size_t p) {
    return FindDiagram(result.pipelines[p].diagrams, DiagramKind::kConfusion);
  };
  const std::vector<std::string> names = ShownPipelines(result);
  const Diagram* after = find(last);
  if (after == nullptr) return {};
  const std::optional<size_t> at = FindBefore(result, last);
  const Diagram* before = at ? find(*at) : nullptr;
  if (before == nullptr) return {MakeMatrix(names[last], *after)};
  if (before->rows == after->rows)
    return {MakeMatrix(names[last] + ", the same as " + names[*at], *after)};
  return {MakeMatrix(names[*at], *before), MakeMatrix(names[last], *after)};
}

struct MatrixLayout {
  size_t classes;
  double cell;
  double names;  // room left of and above the cells

  double side() const { return cell * static_cast<double>(classes); }
};

double NameRoom(const std::vector<std::string>& classes) {
  if (classes.size() > kMostNames) return 20.0;
  double room = 0.0;
  for (const std::string& name : classes) room = std::max(room, TextPixels(name, kNameSize));
  return std::min(room, kMostNameRoom) + 12.0;
}

MatrixLayout LayOutMatrix(const std::vector<std::string>& classes) {
  const auto count = static_cast<double>(classes.size());
  return {.classes = classes.size(),
          .cell = std::clamp(std::floor(420.0 / count), 3.0, 42.0),
          .names = NameRoom(classes)};
}

// Whole per cents; what is there but rounds to none is "<1", nothing is left blank.
std::string ShownShare(double share) {
  if (std::isnan(share) || share == 0.0) return "";
  return share < 0.005 ? "<1" : FormatNumber(100.0 * share, 0);
}

void DrawCell(double share, const SvgBox& box, bool number, Svg* svg) {
  const bool none = std::isnan(share);
  // The square root shows confusions of a few per cent.
  const double strength = none ? 0.0 : std::sqrt(std::clamp(share, 0.0, 1.0));
  svg->AddRect(box, {.fill = none ? kHatchLight : Mix(kPaper, kBlue, strength)});
  if (!number) return;
  svg->AddText({box.x + 0.5 * box.width, box.y + 0.5 * box.height + 3.5},
               ShownShare(share),
               {.size = 10.0, .color = strength > 0.62 ? kPaper : kInk, .anchor = Anchor::kMiddle});
}

void DrawNames(const std::vector<std::string>& classes,
               const MatrixLayout& layout,
               Point corner,
               Svg* svg) {
  if (classes.size() > kMostNames) return;
  for (size_t c = 0; c < classes.size(); ++c) {
    const double offset = (static_cast<double>(c) + 0.5) * layout.cell + 3.8;
    const std::string name = FitPixels(classes[c], kNameSize, kMostNameRoom);
    svg->AddText({corner.x - 6.0, corner.y + offset},
                 name,
                 {.size = kNameSize, .color = kInk, .anchor = Anchor::kEnd});
    svg->AddText({corner.x + offset, corner.y - 6.0},
                 name,
                 {.size = kNameSize, .color = kInk, .upwards = true});
  }
}

void DrawMatrix(const ConfusionMatrix& matrix,
                const std::vector<std::string>& classes,
                const MatrixLayout& layout,
                Point corner,
                double room,
                Svg* svg) {
  svg->AddText({corner.x, corner.y - layout.names - 8.0},
               FitPixels(matrix.title, 13.0 * kBoldWidth, room),
               {.size = 13.0, .color = kInk, .bold = true});
  DrawNames(classes, layout, corner, svg);
  const bool numbers = classes.size() <= kMostNumbers && layout.cell >= 17.0;
  for (size_t label = 0; label < classes.size(); ++label) {
    for (size_t predicted = 0; predicted < classes.size(); ++predicted) {
      const SvgBox box{corner.x + layout.cell * static_cast<double>(predicted),
                       corner.y + layout.cell * static_cast<double>(label),
                       layout.cell,
                       layout.cell};
      DrawCell(matrix.shares[label][predicted], box, numbers, svg);
    }
  }
  svg->AddRect({corner.x, corner.y, layout.side(), layout.side()}, {.stroke = kFaint});
  svg->AddText({corner.x + 0.5 * layout.side(), corner.y + layout.side() + 18.0},
               "predicted",
               {.size = 12.0, .color = kFaint, .anchor = Anchor::kMiddle});
}

}  // namespace

std::string ConfusionFigure(const EvaluateResult& result) {
  if (result.pipelines.empty())
    Throw(ErrorCode::kInvalidArgument, "the result has no pipeline to draw");
  const std::vector<ConfusionMatrix> matrices = Matrices(result);
  if (matrices.empty()) return {};
  const MatrixLayout layout = LayOutMatrix(result.classes);
  const double step = layout.names + std::max(200.0, layout.side()) + kMatrixGap;
  const double top = kConfusionMargin + kConfusionTitle + 26.0 + layout.names;
  const double width =
      std::max(530.0, static_cast<double>(matrices.size()) * step - kMatrixGap + 20.0);
  Svg svg(
      width + 2.0 * kConfusionMargin, top + layout.side() + 30.0 + kConfusionMargin, "Confusion");
  svg.AddText({kConfusionMargin, kConfusionMargin + 14.0},
              FitPixels(result.dataset + ": labels and predictions", 17.0 * kBoldWidth, width),
              {.size = 17.0, .color = kInk, .bold = true});
  svg.AddText(
      {kConfusionMargin, kConfusionMargin + 35.0},
      FitPixels("How the voxels of each label are predicted, in % of them. Grey: no such label.",
                12.0,
                width),
      {.size = 12.0, .color = kFaint});
  for (size_t m = 0; m < matrices.size(); ++m) {
    const double x = kConfusionMargin + 20.0 + layout.names + static_cast<double>(m) * step;
    // The title of the last one, or only one, may be wider than it.
    const bool last = m + 1 == matrices.size();
    const double room = last ? kConfusionMargin + width - x : step - kMatrixGap;
    DrawMatrix(matrices[m], result.classes, layout, {x, top}, room, &svg);
  }
  svg.AddText({kConfusionMargin + 10.0, top + 0.5 * layout.side()},
              "label",
              {.size = 12.0, .color = kFaint, .anchor = Anchor::kMiddle, .upwards = true});
  return std::move(svg).Finish();
}

}  // namespace segcal
