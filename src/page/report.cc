// SPDX-License-Identifier: Apache-2.0
#include "segcal/report.h"

#include <filesystem>

#include "core/file.h"
#include "core/throw.h"
#include "page/explorer.h"
#include "page/page.h"
#include "segcal/study.h"

namespace segcal {
namespace {

constexpr int64_t kMostStudyBytes = int64_t{1} << 30;

std::string PathIn(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string ReadIfThere(const std::string& path) {
  return IsThere(path) ? ReadText(path, kMostStudyBytes) : std::string();
}

Study LoadStudy(const std::string& folder) {
  const std::string path = PathIn(folder, "study.json");
  if (!IsThere(path)) {
    const bool begun = IsThere(PathIn(folder, "units"));
    Throw(
        ErrorCode::kIo,
        "{}: {}",
        path,
        begun
            ? "the study is not complete; `segcal compare` with --resume completes it"
            : "no such file; the folder of a study that `segcal compare` has written is required");
  }
  Study study = StudyFromJson(ReadText(path, kMostStudyBytes), path);
  if (study.pipelines.empty()) Throw(ErrorCode::kBadData, "{}: no pipeline to show", path);
  return study;
}

StudyRun LoadRun(const std::string& folder) {
  const std::string path = PathIn(folder, "run.json");
  return IsThere(path) ? StudyRunFromJson(ReadText(path, kMostStudyBytes), path) : StudyRun{};
}

std::vector<ChosenCase> CasesToShow(const StudyView& view, const ReportOptions& options) {
  if (options.case_ids.empty()) return ChooseCases(view, options.cases);
  std::vector<ChosenCase> cases;
  for (const std::string& id : options.case_ids) cases.push_back({id, "asked for"});
  return cases;
}

// A page without cases is still worth having, unless somebody said where the cases are.
std::string MakeExplorer(const StudyView& view,
                         const std::string& dataset,
                         ExplorerInput input,
                         const ReportOptions& options,
                         ReportResult* result) {
  if (dataset.empty()) {
    result->missing = "It is not known which data set the study was made with.";
    return NoExplorerSection(result->missing);
  }
  try {
    input.dataset = LoadDataset(dataset);
    const std::string section = ExplorerSection(view, input);
    result->explored = static_cast<int64_t>(input.cases.size());
    return section;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || !options.dataset.empty()) throw;
    result->missing = error.what();
    return NoExplorerSection("The data set of the study could not be read: " + result->missing);
  }
}

}  // namespace

ReportResult MakeReport(const std::string& folder, const ReportOptions& options) {
  const Study study = LoadStudy(folder);
  const StudyRun run = LoadRun(folder);
  const StudyView view(study);
  const PageParts page = MakePage(
      view, {.command = run.command, .timing = ReadIfThere(PathIn(folder, "timing.json"))});
  ReportResult result;
  std::string cases;
  const std::vector<ChosenCase> chosen = CasesToShow(view, options);
  if (!chosen.empty()) {
    const auto rest = static_cast<int64_t>(page.before.size() + page.after.size()) + 32768;
    cases = MakeExplorer(view,
                         options.dataset.empty() ? run.dataset : options.dataset,
                         {.dataset = {},
                          .folder = folder,
                          .cases = chosen,
                          .most_bytes = options.max_bytes - rest,
                          .run = options.run},
                         options,
                         &result);
  } else {
    cases = NoExplorerSection("None was asked for.");
  }
  result.html = page.before + cases + page.after;
  return result;
}

}  // namespace segcal
