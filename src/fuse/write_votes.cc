// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/new_folder.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "data/voxel_block.h"
#include "formats/array.h"
#include "fuse/method.h"
#include "fuse/votes.h"
#include "segcal/files.h"
#include "segcal/fuse.h"

namespace segcal {
namespace {

// What ignored voxels are in the files that are written here.
constexpr uint8_t kIgnoredVote = 255;

// Whether the label map of a candidate is right: 0, 1, or 255 where nobody knows.
std::vector<uint8_t> FindCorrectness(const CandidateMap& map, const std::vector<int32_t>& truth) {
  std::vector<uint8_t> correct(truth.size());
  std::vector<uint16_t> labels;
  for (size_t first = 0; first < truth.size(); first += kBlockVoxels) {
    labels.resize(std::min<size_t>(kBlockVoxels, truth.size() - first));
    map.Read(static_cast<int64_t>(first), labels);
    for (size_t v = 0; v < labels.size(); ++v) {
      const int32_t label = truth[first + v];
      const bool known = label != kNoLabel && labels[v] != kAbstains;
      correct[first + v] = known ? (labels[v] == label ? 1 : 0) : kIgnoredVote;
    }
  }
  return correct;
}

// Both rows of a reliability that is a map of one number per voxel.
void SaveRows(const std::string& path, const Array& rows) {
  const auto writer = CreateArray(path, rows.info());
  std::vector<float> values;
  const int64_t total = rows.info().NumElements();
  for (int64_t first = 0; first < total; first += kBlockVoxels) {
    values.resize(static_cast<size_t>(std::min(kBlockVoxels, total - first)));
    rows.Read(first, std::ssize(values), values.data());
    writer->WriteAt(first, std::ssize(values), values.data());
  }
  writer->Commit();
}

// The vote of one candidate where candidates are label maps: its reliability as a prediction of
// "wrong" or "right", with what it was as labels.
void DescribeLabelMap(const Dataset& dataset,
                      const Case& entry,
                      int64_t candidate,
                      const std::string& folder,
                      const RunOptions& run,
                      Case* vote) {
  const CaseReader reader = OpenVote(dataset, entry, candidate, run);
  const Array& member = *reader.member(0);
  OpenOptions open;
  open.key = dataset.key;
  const auto original = OpenSource(
      dataset, entry, entry.members[static_cast<size_t>(candidate)], "reliability", open);
  if (original->info().shape != member.info().shape) {
    vote->members[0] = "reliability/" + vote->id + ".npy";
    CreateFolder(folder + "/reliability");
    SaveRows(folder + "/" + vote->members[0].path(), member);
  }
  const std::vector<int32_t> truth = ReadTruth(dataset, entry, run);
  if (truth.empty()) return;
  const CandidateMap map(dataset, entry, candidate, reader.shape(), run);
  vote->labels = "labels/" + vote->id + ".npy";
  CreateFolder(folder + "/labels");
  SaveArray(folder + "/" + vote->labels.path(),
            {.dtype = DType::kU8, .shape = reader.shape(), .spacing = {}},
            FindCorrectness(map, truth).data());
}

Case DescribeVote(const Dataset& dataset,
                  const Case& entry,
                  int64_t candidate,
                  const std::string& folder,
                  const RunOptions& run) {
  Case vote = entry;
  vote.id = fmt::format("{}__{}", entry.id, candidate);
  vote.group = entry.group.empty() ? entry.id : entry.group;
  vote.candidates.clear();
  vote.members = {RebaseSource(dataset, entry.members[static_cast<size_t>(candidate)], folder)};
  vote.labels = RebaseSource(dataset, entry.labels, folder);
  vote.mask = RebaseSource(dataset, entry.mask, folder);
  vote.image = RebaseSource(dataset, entry.image, folder);
  if (entry.candidates.empty()) return vote;
  vote.labels = {};
  DescribeLabelMap(dataset, entry, candidate, folder, run, &vote);
  return vote;
}

// What all votes share.
Dataset DescribeVotes(const Dataset& dataset, const std::string& folder) {
  Dataset votes = dataset;
  votes.name = dataset.name + " votes";
  votes.cases.clear();
  votes.folder = folder;
  if (!HasLabelMaps(dataset)) return votes;
  votes.classes = VoteClasses(dataset);
  votes.ignore_label = kIgnoredVote;
  votes.background.reset();
  votes.label_map.clear();
  return votes;
}

}  // namespace

Dataset WriteVotes(const Dataset& dataset, const std::string& folder, const RunOptions& run) {
  const ProgressScope scope(run.progress);
  CheckCandidates(dataset);
  NewFolder output(folder);
  Dataset votes = DescribeVotes(dataset, folder);
  for (const Case& entry : dataset.cases) {
    ReportProgress({.stage = "votes",
                    .done = std::ssize(votes.cases),
                    .total = std::ssize(dataset.cases) * std::ssize(entry.members),
                    .detail = entry.id});
    for (int64_t i = 0; i < std::ssize(entry.members); ++i)
      votes.cases.push_back(DescribeVote(dataset, entry, i, folder, run));
  }
  SaveDataset(folder + "/dataset.json", votes);
  output.Keep();
  return votes;
}

}  // namespace segcal
