// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/part_flags.h"
#include "cli/print_applied.h"
#include "cli/ranks.h"
#include "cli/throw.h"
#include "segcal/apply.h"
#include "segcal/methods.h"
#include "segcal/parts.h"

namespace segcal::cli {
namespace {

struct ApplyArguments {
  std::string model;
  std::string dataset;
  std::string output;
  std::vector<std::string> nnunet;
  NnunetApplyOptions nnunet_options;
  std::string dtype = "f32";
  ApplyOptions options;
  PartFlags part;
  RunFlags run;
  bool json = false;
};

// Folders of nnU-Net as "IN... OUT", or with -o as "IN...".
void SplitNnunet(ApplyArguments* given) {
  if (given->output.empty()) {
    given->output = given->nnunet.back();
    given->nnunet.pop_back();
  }
  if (given->nnunet.empty())
    Throw(ErrorCode::kInvalidArgument,
          "--nnunet: one folder is named; IN and OUT are required, or IN and -o OUT");
}

void CheckArguments(const ApplyArguments& given) {
  CheckPartFlags(given.part);
  if (given.nnunet.empty() && (given.dataset.empty() || given.output.empty()))
    Throw(ErrorCode::kInvalidArgument,
          "a data set and -o FOLDER are required, or --nnunet IN OUT for folders of nnU-Net");
  if (!given.nnunet.empty() && !given.dataset.empty())
    Throw(ErrorCode::kInvalidArgument,
          "{}: a data set and --nnunet cannot be combined",
          given.dataset);
}

ApplyOptions MakeOptions(const ApplyArguments& given, const RunOptions& run) {
  ApplyOptions options = given.options;
  options.run = run;
  options.dtype = given.dtype == "f16" ? DType::kF16 : DType::kF32;
  return options;
}

NnunetApplyOptions MakeNnunetOptions(const ApplyArguments& given, const RunOptions& run) {
  NnunetApplyOptions options = given.nnunet_options;
  options.run = run;
  options.overwrite = given.options.force;
  return options;
}

ApplyResult ApplyAlone(const ApplyArguments& given, const Model& model, const RunOptions& run) {
  if (!given.nnunet.empty()) {
    return ApplyNnunet(model, given.nnunet, given.output, MakeNnunetOptions(given, run));
  }
  return Apply(model, LoadDataset(given.dataset), given.output, MakeOptions(given, run));
}

PartState ApplyPartAs(const ApplyArguments& given,
                      const Model& model,
                      const RunOptions& run,
                      const Part& part) {
  OutputCheck check(given.options.force);
  check.Reads(given.model);
  if (!given.nnunet.empty()) {
    CheckPartFile(given.part, &check);
    return ApplyNnunetPart(model, given.nnunet, given.output, MakeNnunetOptions(given, run), part);
  }
  const Dataset dataset = LoadDataset(given.dataset);
  check.Reads(dataset);
  CheckPartFile(given.part, &check);
  return ApplyPart(model, dataset, given.output, MakeOptions(given, run), part);
}

// All cases, whoever writes them; nothing where another process has the result.
std::optional<ApplyResult> ApplyAll(const ApplyArguments& given,
                                    const Model& model,
                                    const RunOptions& run) {
  if (!IsOneOfMany()) return ApplyAlone(given, model, run);
  return MergeRanks(ApplyPartAs(given, model, run, OwnPart()), MergeApply);
}

void RunPart(const ApplyArguments& given, const Model& model, RunOptions run) {
  const PartState state = ApplyPartAs(given, model, run, given.part.Parse());
  EndProgress(&run);
  SavePart(given.part, state);
}

void Run(ApplyArguments given) {
  CheckArguments(given);
  if (!given.nnunet.empty()) SplitNnunet(&given);
  RunOptions run = given.run.Make();
  AdviseOnInterrupt([folder = given.output, force = given.nnunet.empty() ? "" : " with --force"] {
    return "files of finished cases are complete in " + folder + "; the same command" + force +
           " writes all of them again";
  });
  const Model model = Model::Load(given.model);
  if (given.part.given()) return RunPart(given, model, run);
  const std::optional<ApplyResult> result = ApplyAll(given, model, run);
  if (!result) return;
  EndProgress(&run);
  PrintApplied(*result, given.output, given.json);
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
  text += "  segcal apply brain.json hippocampus -o maps --write probabilities:npz,labels:nifti\n";
  text += "  segcal apply brain.json --nnunet predicted calibrated\n";
  text += "  segcal apply ts.json camvid -o calibrated --part 3/10 --state parts/3.part";
  return text;
}

}  // namespace

Action SetUpApply(CLI::App& app) {
  auto given = std::make_shared<ApplyArguments>();
  app.add_option("model", given->model, "Model file, as written by fit")->required();
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json");
  app.add_option("-o,--output", given->output, "Folder to write <case id>.<extension> to");
  CLI::Option* nnunet =
      app.add_option("--nnunet",
                     given->nnunet,
                     "IN OUT in place of a data set: nnU-Net's predictions, one folder or one per "
                     "member, and a new folder that nnU-Net's tools read");
  app.add_option("--images",
                 given->nnunet_options.images,
                 "With --nnunet: folder of images, for calibrators that look at them")
      ->needs(nnunet);
  app.add_option(
         "--split", given->options.split, "Only the cases of this split (default: all cases)")
      ->excludes(nnunet);
  app.add_option("--write",
                 given->options.write,
                 "What to write, separated by commas (default probabilities); each may have a "
                 "format of its own: probabilities:npz,labels:nifti")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(nnunet);
  app.add_option(
         "--format", given->options.format, "File format of all that have none of their own")
      ->check(CLI::IsMember(WritableFormats()))
      ->excludes(nnunet)
      ->capture_default_str();
  app.add_option("--dtype", given->dtype, "Number type")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->excludes(nnunet)
      ->capture_default_str();
  app.add_flag("--compress", given->options.compress, "Deflate .npz files")->excludes(nnunet);
  AddForce(app, &given->options.force, "; with --nnunet, into a folder that is not empty");
  CLI::Option* json = app.add_flag("--json", given->json, "Print the result as JSON");
  AddPartFlags(app, &given->part, {json});
  AddRunFlags(app, &given->run);
  app.footer(ApplyFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
