// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "segcal/tables.h"
#include "segcal/verify.h"

namespace segcal::cli {
namespace {

struct VerifyArguments {
  std::string model;
  std::string dataset;
  VerifyOptions options;
  RunFlags run;
  bool json = false;
};

std::string MakeTitle(const VerifyCheck& check) {
  if (check.name == "rows") return "rows sum to one";
  if (check.name == "decision") return "decision is kept";
  if (check.name == "order") return "order is kept";
  return "offsets change nothing";
}

std::string Verdict(const VerifyCheck& check) {
  if (check.voxels == 0) return check.note.empty() ? "nothing to look at" : check.note;
  if (check.declared) return check.violations == 0 ? "holds" : "BROKEN";
  return check.violations == 0 ? "not declared; no counter-example" : "not declared; does not hold";
}

void PrintClaims(const VerifyResult& result) {
  if (result.claims.empty()) return;
  Table table({{.header = "parameters", .align = Align::kLeft},
               {.header = "found", .align = Align::kRight},
               {.header = "allowed", .align = Align::kRight},
               {.header = "", .align = Align::kLeft}});
  for (const VerifiedClaim& claim : result.claims) {
    table.AddRow({claim.what,
                  fmt::format("{:.6g}", claim.found),
                  fmt::format("{:.6g}", claim.allowed),
                  claim.holds ? "holds" : "BROKEN"});
  }
  fmt::print("{}\n", table.ToText());
}

void PrintChecks(const VerifyResult& result) {
  Table table({{.header = "emitted values", .align = Align::kLeft},
               {.header = "input", .align = Align::kLeft},
               {.header = "output", .align = Align::kLeft},
               {.header = "voxels", .align = Align::kRight},
               {.header = "violations", .align = Align::kRight},
               {.header = "worst", .align = Align::kRight},
               {.header = "", .align = Align::kLeft}});
  for (const VerifyCheck& check : result.checks) {
    table.AddRow({MakeTitle(check),
                  check.input == "dataset" ? result.dataset : check.input,
                  check.output,
                  HumanCount(check.voxels),
                  fmt::format("{}", check.violations),
                  fmt::format("{:.2g}", check.worst),
                  Verdict(check)});
  }
  fmt::print("{}\n", table.ToText());
}

// Many classes would fill the screen; the JSON has all.
std::string RowText(const std::vector<double>& row) {
  constexpr size_t kShown = 12;
  std::vector<double> head(row.begin(), row.begin() + std::min(row.size(), kShown));
  return fmt::format("({:.9g}{})", fmt::join(head, ", "), row.size() > kShown ? ", ..." : "");
}

void PrintExamples(const VerifyResult& result) {
  for (const VerifyCheck& check : result.checks) {
    if (check.holds()) continue;
    fmt::print("{}, {}, {}: counter-examples\n", MakeTitle(check), check.input, check.output);
    for (const CounterExample& example : check.examples) {
      const std::string place =
          example.position.empty()
              ? fmt::format("generated voxel {} ({})", example.voxel, example.source)
              : fmt::format(
                    "case {}, voxel ({})", example.source, fmt::join(example.position, ", "));
      fmt::print("  {}: {}\n    logits {}\n    emitted {}\n",
                 place,
                 example.what,
                 RowText(example.input),
                 RowText(example.output));
    }
    fmt::print("\n");
  }
}

void Print(const VerifyResult& result) {
  fmt::print("{} declares: translation invariant {}, preserves {}\n\n",
             result.pipeline,
             result.translation_invariant ? "yes" : "no",
             Name(result.preserves));
  PrintClaims(result);
  PrintChecks(result);
  PrintExamples(result);
  fmt::print("The declaration {}.\n", result.holds() ? "holds" : "does NOT hold");
}

int Run(const VerifyArguments& given) {
  VerifyOptions options = given.options;
  options.run = given.run.Make();
  const Model model = Model::Load(given.model);
  const VerifyResult result = given.dataset.empty()
                                  ? Verify(model, options)
                                  : Verify(model, LoadDataset(given.dataset), options);
  EndProgress(&options.run);
  ReportSkipped(result.skipped);
  if (given.json) {
    fmt::print("{}", ToJson(result));
  } else {
    Print(result);
  }
  return result.holds() ? 0 : kBrokenDeclaration;
}

}  // namespace

Action SetUpVerify(CLI::App& app) {
  auto given = std::make_shared<VerifyArguments>();
  app.add_option("model", given->model, "Model file")->required();
  CLI::Option* dataset =
      app.add_option("dataset",
                     given->dataset,
                     "Data set to check too: its file, or a folder holding dataset.json");
  app.add_option("--split", given->options.split, "Only the cases of this split")->needs(dataset);
  app.add_option("--voxels", given->options.voxels, "Generated voxels per check; 0 leaves them out")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->capture_default_str();
  AddSeed(app, &given->options.seed, "Seed of the generated inputs");
  app.add_flag("--json", given->json, "Print as JSON, with every number");
  AddRunFlags(app, &given->run);
  app.footer(
      "Checks what the model declares on the values it emits, in float32 and float16, for random "
      "and\n"
      "adversarial inputs and, if given, a data set. Ends with code 5 if the declaration does not "
      "hold.\n\n"
      "Examples:\n  segcal verify ts.json\n"
      "  segcal verify cms_ap.json camvid --split test --voxels 10000000");
  return [given] { return Run(*given); };
}

}  // namespace segcal::cli
