// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/ranks.h"

namespace segcal::mpi {

// MPI as ranks know it. One in a process: MPI begins and ends with it.
class MpiLink final : public RankLink {
 public:
  MpiLink(int* argc, char*** argv);
  ~MpiLink() override;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  void Send(int to, const std::string& bytes, const std::function<void()>& poll) override;
  std::string Receive(int from, const std::function<void()>& poll) override;

  // This process's share of the cores it may use: what several of a machine may use is divided.
  int ShareOfCores() const;

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace segcal::mpi
