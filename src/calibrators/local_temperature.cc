// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/calibrator_info.h"
#include "methods/tree/tree_calibrator.h"

namespace segcal {
namespace {

constexpr TreeVariant kLocalVariant{
    .name = "lts", .scores = ScoreKind::kCanonical, .image = false, .whole_case = false};
constexpr TreeVariant kRawVariant{
    .name = "lts_raw", .scores = ScoreKind::kRaw, .image = false, .whole_case = false};
constexpr TreeVariant kImageVariant{
    .name = "lts_image", .scores = ScoreKind::kRaw, .image = true, .whole_case = false};

}  // namespace

extern constinit const CalibratorInfo kLocalTemperature{
    .name = "lts",
    .summary =
        "Divides the logits of each voxel by a temperature read from log-probabilities around it.",
    .reference = "Kirscher26",
    .page = "local_temperature",
    .default_options = &DefaultOptions<TreeOptions>,
    .make = &MakeTree<kLocalVariant>,
    .search = SearchBy::kTraining};

extern constinit const CalibratorInfo kLocalTemperatureRaw{
    .name = "lts_raw",
    .summary = "Divides the logits of each voxel by a temperature read from the logits around it.",
    .reference = "Ding21",
    .page = "local_temperature",
    .default_options = &DefaultOptions<TreeOptions>,
    .make = &MakeTree<kRawVariant>,
    .search = SearchBy::kTraining};

extern constinit const CalibratorInfo kLocalTemperatureImage{
    .name = "lts_image",
    .summary =
        "Divides the logits of each voxel by a temperature read from logits and image around it.",
    .reference = "Ding21",
    .page = "local_temperature",
    .default_options = &DefaultOptions<TreeOptions>,
    .make = &MakeTree<kImageVariant>,
    .search = SearchBy::kTraining};

}  // namespace segcal
