// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "segcal/evaluate.h"
#include "segcal/export.h"
#include "segcal/fit.h"
#include "segcal/fit_report.h"
#include "segcal/inspect.h"
#include "segcal/properties.h"
#include "segcal/statistics.h"

namespace segcal {

// A pipeline of a study, and what it declares.
struct StudyPipeline {
  std::string pipeline = {};  // as it was asked for, without what a search chose: "cms_ap(p)"
  Properties properties = {};
  ParameterCounts parameters = {};
  bool baseline = false;  // was not fitted
};

// What became of a pipeline in one repeat.
struct StudyFit {
  std::string pipeline = {};  // of the study
  std::string fitted = {};    // with the options that were chosen
  std::string model = {};     // file in the folder of the study; empty where there is none
  FitReport report = {};      // without cases for a baseline
};

// One partition of the cases, and what was measured on it. Evaluations name pipelines as the study
// does and have all of them, in its order.
struct StudyRepeat {
  uint64_t seed = 0;                          // of the partition and the fits
  std::vector<std::string> calibration = {};  // ids of cases
  std::vector<std::string> validation = {};
  std::vector<std::string> test = {};
  std::vector<StudyFit> fits = {};  // in the order of the pipelines
  // On validation cases: the scores that the recommendation goes by.
  std::optional<EvaluateResult> chosen_by = {};
  EvaluateResult result = {};  // on test cases, with every metric
};

// Voxels whose class a pipeline changed, in per cent of all labelled test voxels, mean over
// repeats.
struct FlipAudit {
  std::string pipeline = {};
  double flips = 0.0;
  double harmful = 0.0;     // right before, wrong after
  double beneficial = 0.0;  // wrong before, right after
  double neutral = 0.0;     // wrong before and after
};

// What a study varies to see whether its answer depends on it.
enum class Sensitivity {
  kCalibrationCases,  // cases fitted on, the test cases being the same
  kEceBins,
  kAceBins,
  kMembers,  // the first ones of the ensemble
};
SEGCAL_EXPORT const char* Name(Sensitivity about) noexcept;  // "calibration_cases", "ece_bins", ...
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT Sensitivity ParseSensitivity(const std::string& name);

// The metrics of one pipeline at one value of what is varied.
struct SensitivityPoint {
  Sensitivity about = Sensitivity::kCalibrationCases;
  double value = 0.0;
  std::string pipeline = {};
  std::vector<MetricInterval> intervals = {};
};

// The models of every repeat, as they are, on other data.
struct StudyShift {
  std::string name = {};  // "mild"
  std::vector<EvaluateResult> repeats = {};
  Statistics statistics = {};
};

// A unit of the study that could not be done. Its pipeline is in none of the lists of results.
struct StudyFailure {
  int64_t repeat = 0;
  std::string pipeline = {};
  std::string stage = {};  // "fit", "evaluate", or what was varied
  std::string reason = {};
};

// A pipeline as the recommendation sees it.
struct Candidate {
  std::string pipeline = {};
  std::string excluded = {};  // why it may not be recommended; empty: it may
  double score = 0.0;         // on the validation cases, mean over their groups and the repeats
  // Of the best candidate's score, paired by group: this less the best, and its standard error.
  double difference = 0.0;
  double standard_error = 0.0;
  // No worse than the best by more than one standard error, or by too little to matter.
  bool within = false;
};

// What to ship: the candidate with the fewest identifiable parameters of those that are as good as
// the best, as far as the validation cases can tell.
struct Recommendation {
  std::string pipeline = {};                 // empty: nothing could be recommended
  std::string score = {};                    // the metric: "nll"
  Preserves preserves = Preserves::kArgmax;  // at least
  bool translation_invariant = true;         // required
  int64_t groups = 0;                        // of validation cases
  std::vector<Candidate> candidates = {};    // every pipeline, in the order of the study
  std::vector<std::string> reasons = {};     // sentences
  std::vector<std::string> warnings = {};    // what may void it
  std::vector<std::string> commands = {};    // to apply it, to be run in the folder of the study
};

// How a study was made; nothing here depends on the machine but the instruction set.
struct StudyProtocol {
  std::string version = {};  // of segcal
  std::string target = {};   // instruction set
  uint64_t seed = 0;
  // Proportions or numbers of calibration, validation and test; empty: the data set's own splits.
  std::vector<double> split = {};
  std::optional<int64_t> search = {};  // trials; absent: the default
  Selection select = Selection::kValidation;
  bool paper_objective = false;  // whether the main paper's objective was run beside ours
};

// Everything a study found: what `segcal compare` writes as study.json, and tables and the page
// are made of. docs/formats.md describes the file and the folder around it.
struct Study {
  StudyProtocol protocol = {};
  DatasetSummary data = {};                   // cases, classes, free energy by ensemble size
  std::vector<StudyPipeline> pipelines = {};  // those that every repeat has, baselines first
  std::vector<StudyRepeat> repeats = {};      // at least one
  Statistics statistics = {};         // of the test cases over all repeats, with matched pairs
  std::vector<FlipAudit> flips = {};  // a pipeline each
  std::vector<SensitivityPoint> sensitivity = {};
  std::vector<StudyShift> shifts = {};
  std::vector<StudyFailure> failures = {};
  Recommendation recommendation = {};
  std::vector<std::string> warnings = {};  // about the data and the study as a whole
};

// study.json, and back; `where` names the text in messages.
SEGCAL_EXPORT std::string ToJson(const Study& study);
SEGCAL_EXPORT Study StudyFromJson(const std::string& text, const std::string& where = "study");

// Every case of every repeat: a row per repeat, pipeline and case, a column per metric.
SEGCAL_EXPORT std::string CasesCsv(const Study& study);

// Where a folder of results came from, which is no part of the results: run.json.
struct StudyRun {
  std::string dataset = {};                                      // path of the data set file
  std::vector<std::pair<std::string, std::string>> shifts = {};  // name and path of each
  std::string command = {};                                      // as it was typed
};
SEGCAL_EXPORT std::string ToJson(const StudyRun& run);
SEGCAL_EXPORT StudyRun StudyRunFromJson(const std::string& text, const std::string& where = "run");

}  // namespace segcal
