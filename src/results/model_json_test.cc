// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/model.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// Golden: the format as documented, written by hand.
constexpr const char* kGolden = R"json({
  "segcal_model": 1,
  "pipeline": "ts(p, max_iterations=7)",
  "classes": ["sky", "road"],
  "input": "logits",
  "floor": -87,
  "properties": {
    "translation_invariant": true,
    "preserves": "order"
  },
  "parameters": {
    "beta": 0.5
  },
  "fit": {
    "data": {
      "name": "street",
      "cases": 3,
      "voxels": 1000,
      "labelled": 900,
      "hash": "00000000deadbeef"
    },
    "nll_before": 0.75,
    "nll_after": 0.5,
    "solver": "by hand",
    "status": "converged",
    "passes": 2,
    "certificates": [
      {
        "gradient": 1e-09,
        "newton_decrement": 2e-09,
        "bounded": true,
        "voxels": 900,
        "gap": 0.125,
        "path": [0.75, 0.5]
      }
    ],
    "search": {
      "trials": [
        {
          "options": {
            "max_iterations": "7"
          },
          "validation_nll": 0.625
        }
      ],
      "chosen": {
        "max_iterations": "7"
      },
      "passes": 3,
      "select": "validation"
    },
    "training": null,
    "figures": null,
    "warnings": ["one", "two"]
  }
}
)json";

Model LoadText(const std::string& text) {
  const TempFolder folder;
  return Model::Load(folder.Put("model.json", text));
}

TEST(Model, ReadsAndWritesTheDocumentedFormat) {
  const Model model = LoadText(kGolden);
  EXPECT_EQ(model.ToJson(), kGolden);
  EXPECT_EQ(model.pipeline(), "ts(p, max_iterations=7)");
  EXPECT_EQ(model.classes(), (std::vector<std::string>{"sky", "road"}));
  EXPECT_EQ(model.input(), InputKind::kLogits);
  EXPECT_TRUE(model.translation_invariant());
  EXPECT_EQ(model.preserves(), Preserves::kOrder);
  EXPECT_EQ(model.report().data.hash, 0xdeadbeefu);
  EXPECT_EQ(model.report().warnings.size(), 2u);
}

TEST(Model, SavedAndLoadedHasTheSameBytes) {
  const TempFolder folder;
  const auto scene = testing::RandomScene({.num_cases = 2, .num_members = 2});
  for (const char* pipeline : {"ts(z)", "ts(p, gradient_tolerance=1e-8)", "none(z1)"}) {
    const Model model = FitStream(*scene.Stream(2), ParsePipeline(pipeline), 0);
    model.Save(folder.File("m.json"));
    const Model loaded = Model::Load(folder.File("m.json"));
    EXPECT_EQ(loaded.ToJson(), model.ToJson());
    EXPECT_EQ(folder.Get("m.json"), model.ToJson());
  }
}

TEST(Model, ParametersReadBackToTheSameBits) {
  Dataset dataset;
  dataset.classes = {"a", "b"};
  dataset.input = InputKind::kProbs;
  Rng rng(/*seed=*/1, /*stream=*/0);
  for (int i = 0; i < 300; ++i) {
    const double beta = std::fmin(std::exp(5.0 * rng.Normal()), 1e6);
    const Model model = testing::TemperatureModel(dataset, beta);
    const Model loaded = LoadText(model.ToJson());
    const double read = ModelAccess::State(loaded).calibrator->Parameters()["beta"].get<double>();
    EXPECT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(beta));
  }
}

TEST(Model, TextReadsBackWithItsReport) {
  const Model model = Model::FromJson(kGolden);
  EXPECT_EQ(model.ToJson(), kGolden);
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_EQ(model.report().data.cases, 3);
  ExpectError(ErrorCode::kBadData, {"the reply: not valid JSON"}, [] {
    Model::FromJson("{", "the reply");
  });
  ExpectError(ErrorCode::kBadData, {"model: not valid JSON"}, [] { Model::FromJson("{} {}"); });
}

// Files of version 0.1 declare the properties of the calibrator alone.
TEST(Model, FileThatDeclaresThoseOfTheCalibratorAloneIsRead) {
  const Model model = testing::FitAs("vs(p)", testing::RandomScene({.num_cases = 1}));
  Json json = ParseJson(model.ToJson(), "model");
  EXPECT_EQ(json["properties"]["translation_invariant"], true);
  json["properties"]["translation_invariant"] = false;
  EXPECT_EQ(Model::FromJson(DumpJson(json)).ToJson(), model.ToJson());
}

TEST(Model, WithoutAFitHasNoReport) {
  const Model model = UnfittedModel(ParsePipeline("none(p)"), {"a"}, InputKind::kProbs);
  const Json json = ParseJson(model.ToJson(), "model");
  EXPECT_TRUE(json["fit"].is_null());
  EXPECT_EQ(LoadText(model.ToJson()).ToJson(), model.ToJson());
}

struct Refusal {
  const char* patch;  // RFC 6902, applied to the golden model
  ErrorCode code;
  std::vector<std::string> parts;
};

void ExpectRefusedModel(const Refusal& refusal) {
  SCOPED_TRACE(refusal.patch);
  const TempFolder folder;
  const Json json = ParseJson(kGolden, "golden").patch(ParseJson(refusal.patch, "patch"));
  const std::string path = folder.Put("model.json", DumpJson(json));
  std::vector<std::string> parts = {path};
  parts.insert(parts.end(), refusal.parts.begin(), refusal.parts.end());
  ExpectError(refusal.code, parts, [&] { Model::Load(path); });
}

TEST(Model, RefusesAnotherVersionByName) {
  ExpectRefusedModel({R"([{"op": "replace", "path": "/segcal_model", "value": 2}])",
                      ErrorCode::kUnsupported,
                      {"format 2", "reads 1"}});
  ExpectRefusedModel(
      {R"([{"op": "remove", "path": "/segcal_model"}])", ErrorCode::kBadData, {"segcal_model"}});
}

TEST(Model, RefusesUnknownFieldsAnywhere) {
  for (const char* place :
       {"/x", "/properties/x", "/parameters/x", "/fit/x", "/fit/data/x", "/fit/certificates/0/x"}) {
    const std::string patch =
        std::string(R"([{"op": "add", "path": ")") + place + R"(", "value": 1}])";
    ExpectRefusedModel({patch.c_str(), ErrorCode::kBadData, {"unknown field \"x\""}});
  }
}

TEST(Model, RefusesMissingFields) {
  for (const char* place : {"/pipeline",
                            "/classes",
                            "/input",
                            "/floor",
                            "/properties",
                            "/parameters",
                            "/fit",
                            "/parameters/beta",
                            "/fit/data",
                            "/fit/nll_after",
                            "/fit/data/hash"}) {
    const std::string patch = std::string(R"([{"op": "remove", "path": ")") + place + R"("}])";
    ExpectRefusedModel({patch.c_str(), ErrorCode::kBadData, {"is missing"}});
  }
}

TEST(Model, RefusesATemperatureOutOfRange) {
  for (const char* beta : {"-1", "1000001", "null", "\"1\"", "[1]"}) {
    const std::string patch =
        std::string(R"([{"op": "replace", "path": "/parameters/beta", "value": )") + beta + "}]";
    ExpectRefusedModel({patch.c_str(), ErrorCode::kBadData, {"parameters", "beta"}});
  }
}

TEST(Model, RefusesPropertiesItsCalibratorDoesNotHave) {
  ExpectRefusedModel({R"([{"op": "replace", "path": "/properties/preserves", "value": "none"}])",
                      ErrorCode::kBadData,
                      {"declared properties"}});
  ExpectRefusedModel(
      {R"([{"op": "replace", "path": "/properties/translation_invariant", "value": false}])",
       ErrorCode::kBadData,
       {"declared properties"}});
}

TEST(Model, RefusesPipelinesItCannotMake) {
  ExpectRefusedModel({R"json([{"op": "replace", "path": "/pipeline", "value": "tomorrow(z)"}])json",
                      ErrorCode::kBadData,
                      {"unknown calibrator \"tomorrow\""}});
  ExpectRefusedModel({R"json([{"op": "replace", "path": "/pipeline", "value": "ts(q)"}])json",
                      ErrorCode::kBadData,
                      {"\"q\""}});
  ExpectRefusedModel(
      {R"json([{"op": "replace", "path": "/pipeline", "value": "ts(z, speed=1)"}])json",
       ErrorCode::kBadData,
       {"unknown option \"speed\""}});
}

TEST(Model, RefusesInputAndFloorOfAnotherKind) {
  ExpectRefusedModel({R"([{"op": "replace", "path": "/input", "value": "softmax"}])",
                      ErrorCode::kBadData,
                      {"\"softmax\""}});
  ExpectRefusedModel({R"([{"op": "replace", "path": "/input", "value": "probabilities"}])",
                      ErrorCode::kUnsupported,
                      {"floor -87"}});
  ExpectRefusedModel({R"([{"op": "replace", "path": "/floor", "value": -88}])",
                      ErrorCode::kUnsupported,
                      {"floor -88"}});
}

TEST(Model, RefusesToHaveNoClasses) {
  ExpectRefusedModel({R"([{"op": "replace", "path": "/classes", "value": []}])",
                      ErrorCode::kBadData,
                      {"no classes"}});
}

TEST(Model, RefusesAHashThatIsNone) {
  for (const char* hash : {"", "deadbeef", "00000000deadbeeg", "-0000000deadbeef"}) {
    const std::string patch =
        std::string(R"([{"op": "replace", "path": "/fit/data/hash", "value": ")") + hash + "\"}]";
    ExpectRefusedModel({patch.c_str(), ErrorCode::kBadData, {"16 hexadecimal digits"}});
  }
}

TEST(Model, RefusesAStatusThatIsNone) {
  ExpectRefusedModel({R"([{"op": "replace", "path": "/fit/status", "value": "fine"}])",
                      ErrorCode::kBadData,
                      {"fit: \"status\": unknown status \"fine\"", "converged, at_bound"}});
}

TEST(Model, RefusesATruncatedFileAtAnyByte) {
  const TempFolder folder;
  const std::string text = kGolden;
  for (size_t size = 0; size + 2 < text.size(); size += 7) {
    const std::string path = folder.Put("model.json", text.substr(0, size));
    ExpectError(ErrorCode::kBadData, {path}, [&] { Model::Load(path); });
  }
}

}  // namespace
}  // namespace segcal
