// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "core/ranks.h"

namespace segcal::mpi {

// The bytes of all ranks, in their order, at the first; nothing elsewhere.
std::vector<std::string> GatherAtFirst(RankMeetings* meetings, const std::string& own);

// The last meeting: throws what any rank has failed with, unless all know it already.
void EndTogether(RankMeetings* meetings, const std::exception_ptr& failure);

}  // namespace segcal::mpi
