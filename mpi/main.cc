// SPDX-License-Identifier: Apache-2.0

// segcal-mpi: the commands of segcal, done by the processes that mpirun or srun has started
// together.

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/ranks.h"
#include "cli/streams.h"
#include "core/parallel.h"
#include "mpi/gather.h"
#include "mpi/link.h"

namespace segcal::mpi {
namespace {

void Join(RankMeetings* meetings) {
  cli::Ranks& ranks = cli::OwnRanks();
  ranks.rank = meetings->link().rank();
  ranks.size = meetings->link().size();
  ranks.share_fits = [meetings] { ShareFits(meetings); };
  ranks.gather = [meetings](const std::string& own) { return GatherAtFirst(meetings, own); };
  ranks.end = [meetings](const std::exception_ptr& failure) {
    ShareWork(nullptr);
    EndTogether(meetings, failure);
  };
  if (ranks.rank > 0) cli::SilenceStreams();
  if (ranks.size > 1) cli::ForgetTerminal();
}

int Run(int argc, char** argv) {
  MpiLink link(&argc, &argv);
  RankMeetings meetings(&link);
  if (link.size() == 1 && cli::StartedAsOneOfMany()) {
    cli::Say(
        "segcal-mpi: several processes were started, and this MPI sees one: mpirun or srun belong "
        "to another MPI (srun: --mpi=pmix)\n");
    return 1;
  }
  LimitAvailableThreads(link.ShareOfCores());
  Join(&meetings);
  return cli::RunProgram(cli::SegcalProgram(), argc, argv);
}

}  // namespace
}  // namespace segcal::mpi

int main(int argc, char** argv) { return segcal::mpi::Run(argc, argv); }
