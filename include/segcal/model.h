// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "segcal/export.h"
#include "segcal/fit_report.h"
#include "segcal/input_kind.h"
#include "segcal/properties.h"
#include "segcal/views.h"

namespace segcal {

struct ModelState;
class ModelAccess;

// A fitted calibrator: what to do with the members of an ensemble to get probabilities one can
// trust. Cheap to copy; immutable.
class SEGCAL_EXPORT Model {
 public:
  // Reads a model file strictly; an unknown format version is refused.
  static Model Load(const std::string& path);
  void Save(const std::string& path) const;
  // The same from and to the text of the file; `where` names it in messages.
  static Model FromJson(const std::string& text, const std::string& where = "model");
  std::string ToJson() const;

  const std::string& pipeline() const;  // "ts(z)"
  const std::vector<std::string>& classes() const;
  InputKind input() const;
  bool translation_invariant() const;
  Preserves preserves() const;
  const std::string& file() const;  // it was loaded from; empty: none
  const FitReport& report() const;  // no cases for a model that was not fitted
  int64_t num_members() const;      // of the ensemble it was fitted on; 0: not known
  ParameterCounts parameter_counts() const;
  std::optional<double> inverse_temperature() const;  // of methods that have a single one

  // Calibrates one image or volume in memory: LogitsView{MakeView(logits, {num_classes, h, w})}, or
  // a vector of views for the members of an ensemble. The kind of view must be the model's input.
  // threads 0: all available. segcal/apply.h has the same with a mask or an image.
  void Apply(const MembersView& members, const ApplyOutputs& out, int threads = 0) const;

 private:
  friend class ModelAccess;
  explicit Model(std::shared_ptr<const ModelState> state) : state_(std::move(state)) {}

  std::shared_ptr<const ModelState> state_;
};

// Whether a JSON file is a model's, rather than a data set's; not of a folder.
SEGCAL_EXPORT bool IsModelFile(const std::string& path);

// The model of a file, or those of a folder's .json files in the order of ListCalibrators().
SEGCAL_EXPORT std::vector<Model> LoadModels(const std::string& path);

// What a file of a pipeline's model is called: ts(z) becomes ts_z.json, which needs no quotes in a
// shell.
SEGCAL_EXPORT std::string ModelFileName(const std::string& pipeline);

}  // namespace segcal
