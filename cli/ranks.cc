// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/throw.h"

namespace segcal::cli {
namespace {

int NumberOf(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

bool NamesPart(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--part" || word.starts_with("--part=")) return true;
  }
  return false;
}

}  // namespace

Ranks& OwnRanks() {
  static Ranks ranks;
  return ranks;
}

bool StartedAsOneOfMany() {
  // What a program started by one of the processes does is its own business.
  if (std::getenv("SEGCAL_ALONE") != nullptr) return false;
  if (NumberOf("OMPI_COMM_WORLD_SIZE") > 1 || NumberOf("PMI_SIZE") > 1) return true;
  return std::getenv("PMIX_RANK") != nullptr && NumberOf("SLURM_STEP_NUM_TASKS") > 1;
}

void HandOver(const char* program, char** argv) {
  std::error_code none;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", none).replace_filename(program);
  ::execv(beside.c_str(), argv);
  ::execvp(program, argv);
}

void HandOverToRanks(int argc, char** argv) {
  if (!StartedAsOneOfMany() || NamesPart(argc, argv)) return;
  HandOver("segcal-mpi", argv);
  Throw(ErrorCode::kUnsupported,
        "this is one of several processes that mpirun or srun has started, and segcal-mpi, which "
        "lets them work together, is not installed here ({}); it is built where CMake finds MPI, "
        "on Debian after: apt-get install libopenmpi-dev openmpi-bin. SEGCAL_ALONE=1 in the "
        "environment lets each work for itself",
        std::strerror(errno));
}

}  // namespace segcal::cli
