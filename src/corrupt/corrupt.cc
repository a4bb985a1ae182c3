// SPDX-License-Identifier: Apache-2.0
#include "segcal/corrupt.h"

#include <atomic>
#include <string_view>

#include "core/json.h"
#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "corrupt/corruption.h"
#include "corrupt/image.h"
#include "data/array_source.h"
#include "segcal/files.h"

namespace segcal {
namespace {

// What is to be done with one image.
struct Job {
  const ImageSource* source = nullptr;
  ImageCorruption corruption;
  std::string file;       // relative to the output folder
  std::string reference;  // a file whose geometry the new one takes over
};

// The format of the image, where it can be written without loss and without a name inside; a view
// becomes .npy.
Job MakeJob(const ImageSource& source, const CorruptOptions& options) {
  const std::string_view format = source.path.empty() ? "npy" : DetectFormat(source.path).name;
  std::string extension = ".npy";
  if (format == "png" || format == "jpeg") extension = ".png";
  if (format == "nifti") extension = ".nii.gz";
  // An item of a file lies elsewhere than the whole.
  const bool is_item = source.entry() != nullptr && source.entry()->image.item().has_value();
  const bool keeps_geometry = format == "nifti" && !is_item;
  return {.source = &source,
          .corruption = DrawCorruption(source.id, options),
          .file = "images/" + source.id + extension,
          .reference = keeps_geometry ? source.path : ""};
}

void RunJob(const Job& job, const std::string& folder, const CorruptOptions& options) {
  const Image image = OpenImage(*job.source, options);
  WriteOptions write;
  write.reference = job.reference;
  const auto writer = CreateArray(folder + "/" + job.file, image.info(), write);
  for (int64_t p = 0; p < image.num_planes(); ++p) {
    PollProgress();
    const int64_t first = p * image.plane_size();
    Plane plane = image.Read(p);
    ApplyCorruption(job.corruption, first, image.name(), &plane);
    writer->WriteAt(first, image.plane_size(), image.Render(plane).data());
  }
  writer->Commit();
}

void RunJobs(const std::vector<Job>& jobs,
             const std::string& folder,
             const CorruptOptions& options) {
  CreateFolder(folder + "/images");
  std::atomic<int64_t> done = 0;
  const auto tell = [&](int64_t finished) {
    ReportProgress({.stage = "corrupt",
                    .done = finished,
                    .total = std::ssize(jobs),
                    .detail = fmt::format("{} of {} images", finished, jobs.size())});
  };
  tell(0);
  ParallelFor(std::ssize(jobs), options.threads, [&](int64_t i, int) {
    RunJob(jobs[static_cast<size_t>(i)], folder, options);
    tell(++done);
  });
}

CorruptResult Summarise(const std::vector<Job>& jobs, const CorruptOptions& options) {
  CorruptResult result{.severity = options.severity, .seed = options.seed, .images = {}};
  for (const Job& job : jobs) {
    const CorruptionInfo& info = *job.corruption.info;
    result.images.push_back({.id = job.source->id,
                             .file = job.file,
                             .corruption = info.name,
                             .setting = Choose(options.severity, info.mild, info.strong)});
  }
  return result;
}

// A file of the old data set as the new one names it.
ArraySource Rebase(const Dataset& dataset,
                   const Case& entry,
                   const ArraySource& source,
                   const std::string& folder) {
  if (source.in_memory()) {
    Throw(ErrorCode::kInvalidArgument,
          "case {} has labels or a mask in memory, which the new data set file cannot name: write "
          "them to files",
          entry.id);
  }
  return RebaseSource(dataset, source, folder);
}

// The data set of the new images: without predictions, which are of the old ones.
Dataset DescribeCorrupted(const Dataset& dataset,
                          const std::vector<Job>& jobs,
                          const std::string& folder) {
  Dataset result = dataset;
  result.cases.clear();
  result.input.reset();
  result.key.clear();
  result.layout = Layout::kChannelsFirst;
  for (const Job& job : jobs) {
    Case entry = *job.source->entry();
    entry.members.clear();
    entry.image = job.file;
    entry.labels = Rebase(dataset, entry, entry.labels, folder);
    entry.mask = Rebase(dataset, entry, entry.mask, folder);
    result.cases.push_back(std::move(entry));
  }
  return result;
}

CorruptResult CorruptAll(const std::vector<ImageSource>& sources,
                         const Dataset* dataset,
                         const std::string& folder,
                         const CorruptOptions& options) {
  const ProgressScope scope(options.progress);
  if (sources.empty()) Throw(ErrorCode::kInvalidArgument, "there are no images to corrupt");
  std::vector<Job> jobs;
  for (const ImageSource& source : sources) jobs.push_back(MakeJob(source, options));
  NewFolder output(folder);
  Dataset corrupted;
  if (dataset != nullptr) corrupted = DescribeCorrupted(*dataset, jobs, folder);
  RunJobs(jobs, folder, options);
  CorruptResult result = Summarise(jobs, options);
  WriteText(folder + "/corruptions.json", ToJson(result));
  // Last: a folder with a data set file is complete.
  if (dataset != nullptr) SaveDataset(folder + "/dataset.json", corrupted, Contents::kImages);
  output.Keep();
  return result;
}

}  // namespace

CorruptResult Corrupt(const Dataset& dataset,
                      const std::string& folder,
                      const CorruptOptions& options) {
  return CorruptAll(ListImages(dataset, options), &dataset, folder, options);
}

CorruptResult Corrupt(const std::vector<std::string>& images,
                      const std::string& folder,
                      const CorruptOptions& options) {
  if (!options.split.empty())
    Throw(ErrorCode::kInvalidArgument,
          "split \"{}\": bare image files have no splits, a data set is required",
          options.split);
  return CorruptAll(ListImages(images), nullptr, folder, options);
}

std::string ToJson(const CorruptResult& result) {
  return DumpJson({{"segcal_corruptions", 1},
                   {"severity", Name(result.severity)},
                   {"seed", result.seed},
                   {"images", JsonItems(result.images, [](const CorruptedImage& image) {
                      return Json{{"id", image.id},
                                  {"file", image.file},
                                  {"corruption", image.corruption},
                                  {"setting", image.setting}};
                    })}});
}

}  // namespace segcal
