// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "segcal/files.h"
#include "segcal/onnx.h"

namespace segcal::cli {
namespace {

struct ExportArguments {
  std::string model;
  std::string output;
  std::string dtype = "f32";
  std::string pool_in = "f64";
  std::string segmenter;  // empty: a graph of its own
  bool force = false;
  OnnxOptions options;
  OnnxJoin join;
};

void CheckOutput(const ExportArguments& given) {
  OutputCheck check(given.force);
  check.Reads(given.model);
  if (!given.segmenter.empty()) check.Reads(given.segmenter);
  check.Writes(given.output, FileKind::kOnnx);
}

void Run(const ExportArguments& given) {
  OnnxOptions options = given.options;
  options.input_type = given.dtype == "f16" ? DType::kF16 : DType::kF32;
  options.pool_type = given.pool_in == "f32" ? DType::kF32 : DType::kF64;
  const Model model = Model::Load(given.model);
  CheckOutput(given);
  if (given.segmenter.empty()) {
    ExportOnnx(model, given.output, options);
    fmt::print("{}: wrote {}\n", model.pipeline(), given.output);
    return;
  }
  AppendToOnnxFile(model, given.segmenter, given.output, given.join, options);
  fmt::print("{}: wrote {}, {} with the calibrator behind \"{}\"\n",
             model.pipeline(),
             given.output,
             given.segmenter,
             fmt::join(given.join.outputs, "\", \""));
}

// Options that a segmenter decides, and those that only it gives a meaning.
void AddAppendOptions(CLI::App& app, ExportArguments* given) {
  CLI::Option* segmenter = app.add_option(
      "--append-to", given->segmenter, "ONNX file of the segmenter to put the calibrator behind");
  for (const char* decided : {"--members", "--dtype", "--opset"})
    segmenter->excludes(app.get_option(decided));
  app.add_option("--output-name",
                 given->join.outputs,
                 "Output of the segmenter to calibrate; of an ensemble in one file one for each "
                 "member, separated by commas (default logits)")
      ->delimiter(',')
      ->needs(segmenter);
  app.add_flag("--keep-output", given->join.keep_outputs, "Leave it an output of the whole")
      ->needs(segmenter);
  app.add_option("--image-name",
                 given->join.image,
                 "Input of the segmenter that is the image, for models that look at one")
      ->needs(segmenter);
}

constexpr const char* kExportFooter =
    "The graph takes logits (N, C, height, width), or what else the model was fitted on, with N\n"
    "and space of any size. Names of inputs: logits, log_probs or probs; logits_0, logits_1, ...\n"
    "with --members; image for models that look at one. Runtimes do not check values as apply\n"
    "does: NaN in gives NaN out. See docs/onnx.md.\n\n"
    "Examples:\n"
    "  segcal export ts.json -o calibrator.onnx --outputs probabilities,labels\n"
    "  segcal export brain.json -o calibrator.onnx --axes 3 --members 5\n"
    "  segcal export ts.json --append-to segmenter.onnx --output-name logits -o calibrated.onnx";

}  // namespace

Action SetUpExport(CLI::App& app) {
  auto given = std::make_shared<ExportArguments>();
  OnnxOptions& options = given->options;
  app.add_option("model", given->model, "Model file, as written by fit")->required();
  app.add_option("-o,--output", given->output, "ONNX file to write")->required();
  app.add_option("--outputs",
                 options.outputs,
                 fmt::format("What the graph puts out, separated by commas: {} (default {})",
                             fmt::join(ListOnnxOutputs(), ", "),
                             fmt::join(options.outputs, ",")))
      ->delimiter(',');
  app.add_option("--members", options.members, "Inputs to be pooled inside the graph")
      ->capture_default_str();
  app.add_option("--axes", options.spatial_axes, "Spatial axes: 2 for images, 3 for volumes")
      ->check(CLI::IsMember({2, 3}))
      ->capture_default_str();
  app.add_option("--dtype", given->dtype, "Number type of the inputs; outputs are float32")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
  app.add_option("--opset", options.opset, "Version of the operators, 13 to 28")
      ->capture_default_str();
  app.add_option("--pool-in",
                 given->pool_in,
                 "Number type in which members are averaged; f32 for devices without f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  app.add_option("--prefix", options.prefix, "Begins the names of outputs and of metadata");
  AddAppendOptions(app, given.get());
  AddForce(app, &given->force);
  app.footer(kExportFooter);
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
