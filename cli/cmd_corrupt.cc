// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/throw.h"
#include "segcal/corrupt.h"
#include "segcal/files.h"

namespace segcal::cli {
namespace {

namespace fs = std::filesystem;

struct CorruptArguments {
  std::string images;
  std::string output;
  std::string severity;
  std::string range;
  std::string figures;
  std::string picture;
  CorruptOptions options;
  bool force = false;
  bool quiet = false;
  bool json = false;
};

// "0,4095".
IntensityRange ParseRange(const std::string& text) {
  IntensityRange range;
  const char* end = text.data() + text.size();
  const auto low = std::from_chars(text.data(), end, range.low);
  if (low.ec == std::errc() && low.ptr < end && *low.ptr == ',') {
    const auto high = std::from_chars(low.ptr + 1, end, range.high);
    if (high.ec == std::errc() && high.ptr == end) return range;
  }
  Throw(ErrorCode::kInvalidArgument,
        "--range {}: BLACK,WHITE or \"image\" is required, for example 0,4095",
        text);
}

CorruptOptions MakeOptions(const CorruptArguments& given) {
  CorruptOptions options = given.options;
  options.severity = given.severity == Name(Severity::kMild) ? Severity::kMild : Severity::kStrong;
  options.range_of_image = given.range == "image";
  if (!given.range.empty() && !options.range_of_image) options.range = ParseRange(given.range);
  options.progress = Interruptible(given.quiet ? ProgressCallback() : ProgressDisplay());
  return options;
}

bool IsDataset(const std::string& path) {
  std::error_code ignored;
  return fs::path(path).extension() == ".json" ||
         fs::exists(fs::path(path) / "dataset.json", ignored);
}

std::vector<std::string> ImageFiles(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return FindImages(path);
  return {path};
}

void Print(const CorruptArguments& given, const CorruptResult& result, bool with_dataset) {
  std::map<std::string, int64_t> counts;
  for (const CorruptedImage& image : result.images) ++counts[image.corruption];
  fmt::print("{}: {}, severity {}, seed {}\n",
             given.output,
             Counted(std::ssize(result.images), "image"),
             Name(result.severity),
             result.seed);
  for (const CorruptionDescription& type : ListCorruptions()) {
    const auto& setting = result.severity == Severity::kMild ? type.mild : type.strong;
    if (counts.count(type.name) > 0)
      fmt::print("  {:<11} {:<14} {}\n", type.name, setting, counts[type.name]);
  }
  if (with_dataset)
    fmt::print("next: run the network on {0}/images; labels are in {0}/dataset.json\n",
               given.output);
}

std::string FigurePath(const CorruptArguments& given) {
  return (fs::path(given.figures) / "corruptions.svg").string();
}

// Before the work; the folder of images must be new or empty anyway.
void CheckFigure(const CorruptArguments& given) {
  if (given.figures.empty()) return;
  OutputCheck check(given.force);
  check.Reads(given.images);
  check.Writes(FigurePath(given), FileKind::kFigure);
}

template <class Images>
CorruptResult CorruptAndDraw(const Images& images,
                             const CorruptArguments& given,
                             const CorruptOptions& options) {
  // First: it is quick, and a wrong --picture should not be found out at the end.
  std::string figure;
  if (!given.figures.empty()) figure = CorruptionFigure(images, given.picture, options);
  CorruptResult result = Corrupt(images, given.output, options);
  if (!given.figures.empty()) {
    NewFolders folders;
    folders.Make(given.figures);
    WriteText(FigurePath(given), figure);
  }
  return result;
}

void Run(const CorruptArguments& given) {
  if (!given.picture.empty() && given.figures.empty())
    Throw(ErrorCode::kInvalidArgument, "--picture needs --figures: a folder to draw into");
  CheckFigure(given);
  CorruptOptions options = MakeOptions(given);
  AdviseOnInterrupt([folder = given.output] {
    return folder + " holds nothing of it; the same command starts anew";
  });
  const bool with_dataset = IsDataset(given.images);
  const CorruptResult result =
      with_dataset ? CorruptAndDraw(LoadDataset(given.images, Contents::kImages), given, options)
                   : CorruptAndDraw(ImageFiles(given.images), given, options);
  options.progress = {};  // clears the bar
  if (given.json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  Print(given, result, with_dataset);
}

std::vector<std::string> CorruptionNames() {
  std::vector<std::string> names;
  for (const CorruptionDescription& type : ListCorruptions()) names.push_back(type.name);
  return names;
}

std::string CorruptFooter() {
  std::string text = "Corruptions, with their settings for mild and strong:\n";
  for (const CorruptionDescription& type : ListCorruptions())
    text +=
        fmt::format("  {:<11} {:<14} {:<14} {}\n", type.name, type.mild, type.strong, type.summary);
  text +=
      "Each image draws one type by a hash of its name and the seed, the same for both "
      "severities.\n"
      "No pixel moves: labels stay true. Volumes are corrupted slice by slice.\n\n";
  text +=
      "Examples:\n  segcal corrupt camvid/dataset.json -o camvid-strong --severity strong "
      "--split test\n"
      "  segcal corrupt photos -o foggy --severity mild --only fog --figures figures";
  return text;
}

}  // namespace

Action SetUpCorrupt(CLI::App& app) {
  auto given = std::make_shared<CorruptArguments>();
  CorruptOptions& options = given->options;
  app.add_option("images",
                 given->images,
                 "Data set file or folder with dataset.json, a folder of images, or one image")
      ->required();
  app.add_option("-o,--output", given->output, "Folder to write, new or empty")->required();
  app.add_option("--severity", given->severity, "How much")
      ->check(CLI::IsMember({"mild", "strong"}))
      ->required();
  app.add_option("--only", options.only, "This corruption for all images")
      ->check(CLI::IsMember(CorruptionNames()));
  AddSeed(app, &options.seed, "Types and noise follow from it");
  app.add_option("--split", options.split, "Only the cases of this split (default: all cases)");
  app.add_option("--range",
                 given->range,
                 "BLACK,WHITE: values of black and white, or \"image\": the smallest and largest "
                 "of each (default: 0,255 and 0,65535 for 8 and 16 bits, 0,1 for floats)");
  app.add_option("--spatial-axes",
                 options.spatial_axes,
                 "Of .npy images with three axes: 2 for (H, W, channels), 3 for (D, H, W)")
      ->check(CLI::Range(2, 3));
  app.add_option("--figures",
                 given->figures,
                 "Folder to draw corruptions.svg into: an image under every corruption");
  app.add_option("--picture", given->picture, "Image to draw (default: the first)");
  app.add_option("--threads", options.threads, "Threads; 0 is all cores")
      ->check(CLI::Range(0, 1024));
  AddForce(app, &given->force);
  app.add_flag("--json", given->json, "Print the result as JSON");
  app.add_flag("--quiet", given->quiet, "No progress display");
  app.footer(CorruptFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
