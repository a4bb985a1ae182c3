// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything at once.
#include "segcal/accumulate.h"    // IWYU pragma: export
#include "segcal/apply.h"         // IWYU pragma: export
#include "segcal/compare.h"       // IWYU pragma: export
#include "segcal/corrupt.h"       // IWYU pragma: export
#include "segcal/dataset.h"       // IWYU pragma: export
#include "segcal/error.h"         // IWYU pragma: export
#include "segcal/evaluate.h"      // IWYU pragma: export
#include "segcal/figures.h"       // IWYU pragma: export
#include "segcal/files.h"         // IWYU pragma: export
#include "segcal/fit.h"           // IWYU pragma: export
#include "segcal/fit_report.h"    // IWYU pragma: export
#include "segcal/fuse.h"          // IWYU pragma: export
#include "segcal/index.h"         // IWYU pragma: export
#include "segcal/inspect.h"       // IWYU pragma: export
#include "segcal/methods.h"       // IWYU pragma: export
#include "segcal/model.h"         // IWYU pragma: export
#include "segcal/onnx.h"          // IWYU pragma: export
#include "segcal/parts.h"         // IWYU pragma: export
#include "segcal/report.h"        // IWYU pragma: export
#include "segcal/run_options.h"   // IWYU pragma: export
#include "segcal/simulate.h"      // IWYU pragma: export
#include "segcal/statistics.h"    // IWYU pragma: export
#include "segcal/study.h"         // IWYU pragma: export
#include "segcal/study_tables.h"  // IWYU pragma: export
#include "segcal/tables.h"        // IWYU pragma: export
#include "segcal/verify.h"        // IWYU pragma: export
#include "segcal/version.h"       // IWYU pragma: export
