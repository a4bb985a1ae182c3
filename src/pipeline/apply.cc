// SPDX-License-Identifier: Apache-2.0
#include "segcal/apply.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "core/file.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "pipeline/outputs.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

// The arrays of one case being written, made when its first block arrives.
struct CaseFiles {
  PolledOnce made;
  std::vector<CaseOutput> outputs;
  std::unique_ptr<BoundCalibrator> bound;
};

// What one worker needs.
struct ApplyWorkspace {
  TileBuffer tile;
  EmitWorkspace emit;
  std::vector<CaseOutput::Scratch> scratch;
};

std::filesystem::path Resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved;
}

class ApplyJob {
 public:
  ApplyJob(const Model& model,
           const CaseStream& stream,
           std::string folder,
           const ApplyOptions& options)
      : state_(ModelAccess::State(model)),
        stream_(stream),
        folder_(std::move(folder)),
        options_(options),
        format_(FindWritableFormat(options.format)),
        cases_(static_cast<size_t>(stream.num_cases())),
        workspaces_(static_cast<size_t>(stream.num_workers())) {
    for (const std::string& name : options.write) {
      const OutputKind* kind = &FindOutputKind(name);
      if (std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end()) {
        Throw(ErrorCode::kInvalidArgument, "\"{}\" is to be written twice", name);
      }
      kinds_.push_back(kind);
    }
    CheckOutputs();
    MakeFolders();
  }

  ApplyResult Run() {
    std::atomic<int64_t> voxels{0};
    stream_.ForEachBlock(
        "apply " + state_.pipeline,
        [&](VoxelBlock& block, int64_t c, int worker) {
          ApplyBlock(block, c, &workspaces_[static_cast<size_t>(worker)]);
        },
        [&](int64_t c, const CaseReader& reader) {
          Finish(&cases_[static_cast<size_t>(c)]);
          voxels += reader.num_voxels();
        });
    ApplyResult result;
    result.pipeline = state_.pipeline;
    result.voxels = voxels;
    result.renormalised = renormalised_;
    for (int64_t c = 0; c < stream_.num_cases(); ++c) {
      for (const OutputKind* kind : kinds_) result.files.push_back(OutputPath(c, *kind));
    }
    return result;
  }

 private:
  // One kind goes straight into the folder, several into sub-folders.
  std::string OutputFolder(const OutputKind& kind) const {
    return kinds_.size() == 1 ? folder_ : (std::filesystem::path(folder_) / kind.name).string();
  }
  std::string OutputPath(int64_t c, const OutputKind& kind) const {
    const std::string& id = stream_.dataset().cases[static_cast<size_t>(c)].id;
    return (std::filesystem::path(OutputFolder(kind)) / (id + Extensions(format_).front()))
        .string();
  }

  // Writing over a file of the data set would destroy what is being read.
  void CheckOutputs() const {
    std::set<std::filesystem::path> inputs;
    const auto add = [&](const ArraySource& source) {
      if (!source.path().empty()) inputs.insert(Resolved(FullPath(stream_.dataset(), source)));
    };
    for (const Case& c : stream_.dataset().cases) {
      for (const ArraySource& member : c.members) add(member);
      for (const ArraySource* source : {&c.labels, &c.image, &c.mask}) add(*source);
    }
    for (int64_t c = 0; c < stream_.num_cases(); ++c) {
      for (const OutputKind* kind : kinds_) {
        const std::string path = OutputPath(c, *kind);
        if (inputs.contains(Resolved(path))) {
          Throw(ErrorCode::kInvalidArgument,
                "{}: is a file of the data set; choose another folder to write to",
                path);
        }
      }
    }
  }

  void MakeFolders() const {
    for (const OutputKind* kind : kinds_) CreateFolder(OutputFolder(*kind));
  }

  CaseFiles& OpenFiles(int64_t c, const CaseReader& reader) {
    CaseFiles& files = cases_[static_cast<size_t>(c)];
    files.made.Call([&] {
      files.outputs.clear();  // what an attempt that failed has left
      for (const OutputKind* kind : kinds_) {
        if (kind->needs_labels && !reader.has_labels()) {
          Throw(ErrorCode::kBadData,
                "case {} has no labels, which {} needs",
                reader.id(),
                kind->name);
        }
        files.outputs.emplace_back(OutputPath(c, *kind), *kind, reader, format_, options_);
      }
      files.bound = state_.calibrator->Bind(reader, state_.spec.pooling, MakeBindOptions(stream_));
    });
    return files;
  }

  void ApplyBlock(VoxelBlock& block, int64_t c, ApplyWorkspace* work) {
    const CaseFiles& files = OpenFiles(c, block.reader());
    work->scratch.resize(files.outputs.size());
    const Properties properties = state_.calibrator->properties();
    const bool keep_decision = properties.preserves != Preserves::kNone;
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, state_.spec.pooling, &work->tile, Excused::kMasked);
      const TileProbs probs = EmitForUse(*files.bound, properties, tile, &work->emit);
      for (size_t k = 0; k < files.outputs.size(); ++k) {
        files.outputs[k].AddTile({tile, probs, *files.bound}, keep_decision, t, &work->scratch[k]);
      }
    }
    for (size_t k = 0; k < files.outputs.size(); ++k)
      files.outputs[k].WriteBlock(block, &work->scratch[k]);
    renormalised_ += block.TakeRenormalised();
  }

  void Finish(CaseFiles* files) {
    for (CaseOutput& output : files->outputs) output.Commit();
    files->outputs.clear();
    files->bound.reset();
  }

  const ModelState& state_;
  const CaseStream& stream_;
  std::string folder_;
  const ApplyOptions& options_;
  const FormatInfo& format_;
  std::vector<const OutputKind*> kinds_;
  std::vector<CaseFiles> cases_;
  std::vector<ApplyWorkspace> workspaces_;
  std::atomic<int64_t> renormalised_{0};
};

}  // namespace

ApplyResult Apply(const Model& model,
                  const Dataset& dataset,
                  const std::string& folder,
                  const ApplyOptions& options) {
  const ProgressScope scope(options.run.progress);
  const ModelState& state = ModelAccess::State(model);
  CheckCompatible(model, dataset);
  if (options.dtype != DType::kF16 && options.dtype != DType::kF32) {
    Throw(ErrorCode::kInvalidArgument,
          "cannot write {}; float16 or float32 is required",
          Name(options.dtype));
  }
  if (options.write.empty())
    Throw(ErrorCode::kInvalidArgument,
          "no output is named; at least one of ListOutputs() is required");
  const Dataset split = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  std::vector<std::string> skipped;
  const Dataset cases =
      ReadableCases(split, {state.spec.pooling}, options.run, &skipped, Excused::kMasked);
  const CaseStream stream(cases, {state.spec.pooling}, MakeStreamOptions(options.run));
  ApplyResult result = ApplyJob(model, stream, folder, options).Run();
  result.skipped = std::move(skipped);
  return result;
}

}  // namespace segcal
