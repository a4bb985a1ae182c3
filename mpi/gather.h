// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "core/ranks.h"

namespace segcal::mpi {

// Fits share their passes from here on; see ShareWork. An Error where ranks would compute on other
// instruction sets: what each works out for itself must have the same bits everywhere.
void ShareFits(RankMeetings* meetings);

// The bytes of all ranks, in their order, at the first; nothing elsewhere.
std::vector<std::string> GatherAtFirst(RankMeetings* meetings, const std::string& own);

// The last meeting: throws what any rank has failed with, unless all know it already.
void EndTogether(RankMeetings* meetings, const std::exception_ptr& failure);

}  // namespace segcal::mpi
