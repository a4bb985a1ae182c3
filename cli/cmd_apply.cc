// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "segcal/apply.h"
#include "segcal/methods.h"

namespace segcal::cli {
namespace {

struct ApplyArguments {
  std::string model;
  std::string dataset;
  std::string output;
  std::string dtype = "f32";
  ApplyOptions options;
  RunFlags run;
  bool json = false;
};

void Run(const ApplyArguments& given) {
  ApplyOptions options = given.options;
  options.run = given.run.Make();
  options.dtype = given.dtype == "f16" ? DType::kF16 : DType::kF32;
  AdviseOnInterrupt([folder = given.output] {
    return "files of finished cases are complete in " + folder +
           "; the same command writes all of them again";
  });
  const Model model = Model::Load(given.model);
  const ApplyResult result = Apply(model, LoadDataset(given.dataset), given.output, options);
  EndProgress(&options.run);
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  if (given.json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  fmt::print("{}: wrote {} files, {} voxels, to {}\n",
             model.pipeline(),
             result.files.size(),
             HumanCount(result.voxels),
             given.output);
}

std::vector<std::string> WritableFormats() {
  std::vector<std::string> names;
  for (const FormatDescription& format : ListFormats()) {
    if (format.writes) names.push_back(format.name);
  }
  return names;
}

std::string ApplyFooter() {
  std::string text = "What can be written:\n";
  for (const OutputDescription& kind : ListOutputs())
    text += fmt::format("  {:<14} {}\n", kind.name, kind.summary);
  text +=
      "Several kinds go to sub-folders of DIR with their names. In a 16-bit PNG, white is 1 for "
      "confidence\n";
  text +=
      "and log(classes) for entropy; PNG is for 2-D cases, and NIfTI has no f16. Masked voxels "
      "keep the uncalibrated probabilities.\n\n";
  text += "Examples:\n  segcal apply ts.json camvid/dataset.json -o calibrated --split test\n";
  text += "  segcal apply brain.json hippocampus -o maps --write confidence,entropy --format nifti";
  return text;
}

}  // namespace

Action SetUpApply(CLI::App& app) {
  auto given = std::make_shared<ApplyArguments>();
  app.add_option("model", given->model, "Model file, as written by fit")->required();
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option("-o,--output", given->output, "Folder to write <case id>.<extension> to")
      ->required();
  app.add_option(
      "--split", given->options.split, "Only the cases of this split (default: all cases)");
  app.add_option("--write",
                 given->options.write,
                 "What to write, separated by commas (default probabilities)")
      ->delimiter(',');
  app.add_option("--format", given->options.format, "File format")
      ->check(CLI::IsMember(WritableFormats()))
      ->capture_default_str();
  app.add_option("--dtype", given->dtype, "Number type")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
  app.add_flag("--json", given->json, "Print the result as JSON");
  AddRunFlags(app, &given->run);
  app.footer(ApplyFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
