// SPDX-License-Identifier: Apache-2.0
#include "mpi/gather.h"

#include "core/throw.h"
#include "segcal/methods.h"
#include "segcal/version.h"

namespace segcal::mpi {

void ShareFits(RankMeetings* meetings) {
  ShareWork(meetings);
  const std::string own = fmt::format("segcal {} on {}", kVersion, ActiveTarget());
  const std::string first = TextOfFirstRank("instruction set", [&] { return own; });
  if (own == first) return;
  Throw(ErrorCode::kInvalidArgument,
        "process {} is {}, the first is {}; SEGCAL_TARGET names an instruction set that all have, "
        "such as AVX2",
        ThisRank(),
        own,
        first);
}

std::vector<std::string> GatherAtFirst(RankMeetings* meetings, const std::string& own) {
  NumberedItems<std::string> gathered;
  gathered.items[meetings->link().rank()] = own;
  meetings->Meet("end of the parts",
                 nullptr,
                 {.pack = [&] { return PackedSums(gathered); },
                  .add =
                      [&](const std::string& others) {
                        NumberedItems<std::string> more;
                        UnpackAllSums(others, &more);
                        gathered.Merge(std::move(more));
                      },
                  .take = nullptr});
  if (meetings->link().rank() > 0) return {};
  std::vector<std::string> all;
  for (auto& [rank, bytes] : gathered.items) all.push_back(std::move(bytes));
  return all;
}

void EndTogether(RankMeetings* meetings, const std::exception_ptr& failure) {
  if (!meetings->ended()) {
    return meetings->Meet(
        "end",
        failure,
        {.pack = [] { return std::string(); }, .add = [](const std::string&) {}, .take = nullptr});
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace segcal::mpi
