// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/json.h"
#include "core/names.h"
#include "core/throw.h"
#include "results/evaluate_json.h"
#include "results/fit_report_json.h"
#include "results/inspect_json.h"
#include "results/recommendation_json.h"
#include "results/statistics_json.h"
#include "segcal/study.h"
#include "stats/interval_json.h"

namespace segcal {
namespace {

constexpr int64_t kStudyVersion = 1;
constexpr const char* kStudyKey = "segcal_study";
constexpr NameList<4> kSensitivityNames = {"calibration_cases", "ece_bins", "ace_bins", "members"};

Json ProtocolJson(const StudyProtocol& protocol) {
  return {{"version", protocol.version},
          {"target", protocol.target},
          {"seed", protocol.seed},
          {"split", JsonNumbers(protocol.split)},
          {"search", protocol.search ? Json(*protocol.search) : Json(nullptr)},
          {"select", Name(protocol.select)},
          {"paper_objective", protocol.paper_objective}};
}

StudyProtocol ReadProtocol(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyProtocol protocol;
  protocol.version = object.String("version");
  protocol.target = object.String("target");
  protocol.seed = object.Unsigned("seed");
  protocol.split = object.Numbers("split");
  protocol.search = object.OptionalInteger("search");
  protocol.select = object.Parse("select", ParseSelection);
  protocol.paper_objective = object.Bool("paper_objective");
  object.Finish();
  return protocol;
}

Json StudyPipelineJson(const StudyPipeline& pipeline) {
  return {{"pipeline", pipeline.pipeline},
          {"translation_invariant", pipeline.properties.translation_invariant},
          {"preserves", Name(pipeline.properties.preserves)},
          {"optimised", pipeline.parameters.optimised},
          {"identifiable", pipeline.parameters.identifiable},
          {"baseline", pipeline.baseline}};
}

StudyPipeline ReadStudyPipeline(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyPipeline pipeline;
  pipeline.pipeline = object.String("pipeline");
  pipeline.properties.translation_invariant = object.Bool("translation_invariant");
  pipeline.properties.preserves = object.Parse("preserves", ParsePreserves);
  pipeline.parameters.optimised = object.Integer("optimised");
  pipeline.parameters.identifiable = object.Integer("identifiable");
  pipeline.baseline = object.Bool("baseline");
  object.Finish();
  return pipeline;
}

Json StudyFitJson(const StudyFit& fit) {
  return {{"pipeline", fit.pipeline},
          {"fitted", fit.fitted},
          {"model", fit.model},
          {"fit", FitReportToJson(fit.report)}};
}

StudyFit ReadStudyFit(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyFit fit;
  fit.pipeline = object.String("pipeline");
  fit.fitted = object.String("fitted");
  fit.model = object.String("model");
  fit.report = ReadFitReport(object.Object("fit"), where + ": fit");
  object.Finish();
  return fit;
}

Json RepeatJson(const StudyRepeat& repeat) {
  return {{"seed", repeat.seed},
          {"calibration", repeat.calibration},
          {"validation", repeat.validation},
          {"test", repeat.test},
          {"fits", JsonItems(repeat.fits, StudyFitJson)},
          {"chosen_by", repeat.chosen_by ? EvaluateResultToJson(*repeat.chosen_by) : Json(nullptr)},
          {"result", EvaluateResultToJson(repeat.result)}};
}

StudyRepeat ReadRepeat(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyRepeat repeat;
  repeat.seed = object.Unsigned("seed");
  repeat.calibration = object.Strings("calibration");
  repeat.validation = object.Strings("validation");
  repeat.test = object.Strings("test");
  repeat.fits = object.Items("fits", ReadStudyFit);
  if (object.Has("chosen_by"))
    repeat.chosen_by = ReadEvaluateResult(object.Any("chosen_by"), where + ": chosen_by");
  repeat.result = ReadEvaluateResult(object.Object("result"), where + ": result");
  object.Finish();
  return repeat;
}

Json AuditJson(const FlipAudit& audit) {
  return {{"pipeline", audit.pipeline},
          {"flips", JsonNumber(audit.flips)},
          {"harmful", JsonNumber(audit.harmful)},
          {"beneficial", JsonNumber(audit.beneficial)},
          {"neutral", JsonNumber(audit.neutral)}};
}

FlipAudit ReadAudit(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  FlipAudit audit;
  audit.pipeline = object.String("pipeline");
  audit.flips = object.AnyNumber("flips");
  audit.harmful = object.AnyNumber("harmful");
  audit.beneficial = object.AnyNumber("beneficial");
  audit.neutral = object.AnyNumber("neutral");
  object.Finish();
  return audit;
}

std::vector<MetricInterval> ReadPointIntervals(const Json& json, const std::string& where) {
  std::vector<MetricInterval> intervals;
  for (const auto& [metric, interval] : json.items()) {
    JsonObject object(interval, where + ": " + metric);
    intervals.push_back({.metric = metric,
                         .estimate = object.AnyNumber("estimate"),
                         .lower = object.AnyNumber("lower"),
                         .upper = object.AnyNumber("upper")});
    object.Finish();
  }
  return intervals;
}

Json PointJson(const SensitivityPoint& point) {
  return {{"about", Name(point.about)},
          {"value", JsonNumber(point.value)},
          {"pipeline", point.pipeline},
          {"intervals", IntervalsJson(point.intervals)}};
}

SensitivityPoint ReadPoint(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  SensitivityPoint point;
  point.about = object.Parse("about", ParseSensitivity);
  point.value = object.AnyNumber("value");
  point.pipeline = object.String("pipeline");
  point.intervals = ReadPointIntervals(object.Object("intervals"), where + ": intervals");
  object.Finish();
  return point;
}

Json ShiftJson(const StudyShift& shift) {
  return {{"name", shift.name},
          {"repeats", JsonItems(shift.repeats, EvaluateResultToJson)},
          {"statistics", StatisticsToJson(shift.statistics)}};
}

StudyShift ReadShift(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyShift shift;
  shift.name = object.String("name");
  shift.repeats = object.Items("repeats", ReadEvaluateResult);
  shift.statistics = ReadStatistics(object.Object("statistics"), where + ": statistics");
  object.Finish();
  return shift;
}

Json FailureJson(const StudyFailure& failure) {
  return {{"repeat", failure.repeat},
          {"pipeline", failure.pipeline},
          {"stage", failure.stage},
          {"reason", failure.reason}};
}

StudyFailure ReadFailure(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  StudyFailure failure;
  failure.repeat = object.Integer("repeat");
  failure.pipeline = object.String("pipeline");
  failure.stage = object.String("stage");
  failure.reason = object.String("reason");
  object.Finish();
  return failure;
}

// Tables and pages go by place: every list of pipelines is that of the study.
class StudyCheck {
 public:
  StudyCheck(const Study& study, const std::string& where) : study_(study), where_(where) {}

  void Run() const {
    if (study_.repeats.empty()) Throw(ErrorCode::kBadData, "{}: no repeat", where_);
    for (const StudyRepeat& repeat : study_.repeats) {
      CheckNames("fits", repeat.fits);
      CheckNames("result", repeat.result.pipelines);
      if (repeat.chosen_by) CheckNames("chosen_by", repeat.chosen_by->pipelines);
    }
    CheckNames("statistics", study_.statistics.pipelines);
    CheckNames("flips", study_.flips);
    CheckNames("candidates", study_.recommendation.candidates);
    for (const StudyShift& shift : study_.shifts) {
      CheckNames("shifts", shift.statistics.pipelines);
      for (const EvaluateResult& repeat : shift.repeats) CheckNames("shifts", repeat.pipelines);
    }
  }

 private:
  template <class Items>
  void CheckNames(const char* list, const Items& items) const {
    const bool same =
        std::equal(items.begin(),
                   items.end(),
                   study_.pipelines.begin(),
                   study_.pipelines.end(),
                   [](const auto& a, const auto& b) { return a.pipeline == b.pipeline; });
    if (!same)
      Throw(ErrorCode::kBadData, "{}: {} are of other pipelines than the study", where_, list);
  }

  const Study& study_;
  const std::string& where_;
};

}  // namespace

const char* Name(Sensitivity about) noexcept { return FindName(about, kSensitivityNames); }

Sensitivity ParseSensitivity(const std::string& name) {
  return ParseName<Sensitivity>("sensitivity", name, kSensitivityNames);
}

std::string ToJson(const Study& study) {
  return DumpJson({{kStudyKey, kStudyVersion},
                   {"protocol", ProtocolJson(study.protocol)},
                   {"recommendation", RecommendationToJson(study.recommendation)},
                   {"warnings", study.warnings},
                   {"failures", JsonItems(study.failures, FailureJson)},
                   {"pipelines", JsonItems(study.pipelines, StudyPipelineJson)},
                   {"flips", JsonItems(study.flips, AuditJson)},
                   {"sensitivity", JsonItems(study.sensitivity, PointJson)},
                   {"statistics", StatisticsToJson(study.statistics)},
                   {"shifts", JsonItems(study.shifts, ShiftJson)},
                   {"data", DatasetSummaryToJson(study.data)},
                   {"repeats", JsonItems(study.repeats, RepeatJson)}});
}

Study StudyFromJson(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  JsonObject object(json, where);
  object.CheckFormat(kStudyKey, "study", kStudyVersion);
  Study study;
  study.protocol = ReadProtocol(object.Object("protocol"), where + ": protocol");
  study.recommendation =
      ReadRecommendation(object.Object("recommendation"), where + ": recommendation");
  study.warnings = object.Strings("warnings");
  study.failures = object.Items("failures", ReadFailure);
  study.pipelines = object.Items("pipelines", ReadStudyPipeline);
  study.flips = object.Items("flips", ReadAudit);
  study.sensitivity = object.Items("sensitivity", ReadPoint);
  study.statistics = ReadStatistics(object.Object("statistics"), where + ": statistics");
  study.shifts = object.Items("shifts", ReadShift);
  study.data = ReadDatasetSummary(object.Object("data"), where + ": data");
  study.repeats = object.Items("repeats", ReadRepeat);
  object.Finish();
  StudyCheck(study, where).Run();
  return study;
}

}  // namespace segcal
