// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/calibrator_info.h"
#include "methods/tree/tree_calibrator.h"

namespace segcal {
namespace {

constexpr TreeVariant kWholeVariant{
    .name = "ibts", .scores = ScoreKind::kCanonical, .image = false, .whole_case = true};

}  // namespace

extern constinit const CalibratorInfo kImageTemperature{
    .name = "ibts",
    .summary = "Divides all logits of a case by one temperature, read from its log-probabilities.",
    .reference = "Ding21",
    .page = "image_temperature",
    .default_options = &DefaultOptions<TreeOptions>,
    .make = &MakeTree<kWholeVariant>,
    .search = SearchBy::kTraining};

}  // namespace segcal
