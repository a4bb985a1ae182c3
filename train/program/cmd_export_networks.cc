// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "core/file.h"
#include "core/throw.h"
#include "formats/onnx_reader.h"
#include "segcal/files.h"
#include "train/program/commands.h"
#include "train/run/export.h"

namespace segcal::train {
namespace {

struct ExportArguments {
  std::string run;
  std::string output;
  int64_t opset = kLowestOpset;
  bool force = false;
};

// Whether a file is what is written here: networks alone, without a calibrator behind them.
bool HoldsNetworks(const std::string& path) {
  try {
    const std::string bytes = ReadText(path, std::numeric_limits<int32_t>::max());
    const OnnxOutline outline = ReadOnnx(bytes, path);
    return outline.metadata == std::set<std::string>{"segcal.network.classes"};
  } catch (const Error&) {
    return false;  // what cannot be read is not ours
  }
}

// Before the work. None of the files of a run is such a graph.
void CheckOutput(const ExportArguments& given) {
  std::error_code error;  // writing says what is wrong
  const bool there = std::filesystem::is_regular_file(given.output, error);
  if (given.force || !there || HoldsNetworks(given.output)) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: is there and is not a graph of segcal's networks; choose another name (option force "
        "writes over it)",
        given.output);
}

void Run(const ExportArguments& given) {
  CheckOutput(given);
  const ExportNetworksResult result = ExportNetworks(given.run, given.output, given.opset);
  const std::string outputs = fmt::format("{}", fmt::join(result.outputs, ","));
  fmt::print("{}: from image to {}\n", given.output, outputs);
  fmt::print("next: segcal export model.json --append-to {} --output-name {} -o calibrated.onnx\n",
             given.output,
             outputs);
}

}  // namespace

cli::Action SetUpExportNetworks(CLI::App& app) {
  auto given = std::make_shared<ExportArguments>();
  app.add_option("run", given->run, "Folder that segcal train wrote")->required();
  app.add_option("-o,--output", given->output, "ONNX file to write")->required();
  app.add_option("--opset", given->opset, "Version of the operators, 13 to 28")
      ->capture_default_str();
  cli::AddForce(app, &given->force);
  app.footer(
      "The graph takes image (N, channels, height, width), or with a depth before it, with the\n"
      "intensities of the image files, and gives the logits of every network: logits, or\n"
      "logits_0, logits_1, ... It does what segcal predict does on whole images; tiles and\n"
      "mirrored views are no part of it.\n\n"
      "Examples:\n  segcal export-networks networks -o segmenter.onnx\n"
      "  segcal export model.json --append-to segmenter.onnx --output-name logits_0,logits_1 \\\n"
      "    -o calibrated.onnx");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::train
