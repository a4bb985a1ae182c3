// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/study_view.h"

namespace segcal {

// The sections of the page, in its order, as HTML; empty where a study has nothing to show.
std::string VerdictSection(const StudyView& view);
std::string WarningsSection(const StudyView& view);
std::string ResultsSection(const StudyView& view);
std::string MatchedSection(const StudyView& view);
std::string ReliabilitySection(const StudyView& view);
std::string TradeoffSection(const StudyView& view);
std::string RiskSection(const StudyView& view);
std::string ConfusionSection(const StudyView& view);
std::string FreeEnergySection(const StudyView& view);
std::string FlipsSection(const StudyView& view);
std::string SensitivitySection(const StudyView& view);
std::string ShiftSection(const StudyView& view);

// Where the study came from, and how long it took: nothing of it is in the study itself.
struct PageOrigin {
  std::string command;  // as it was typed; empty: not known
  std::string timing;   // timing.json; empty: not there
};
std::string ProvenanceSection(const StudyView& view, const PageOrigin& origin);

}  // namespace segcal
