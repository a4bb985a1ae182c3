// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace segcal::cli;
  return RunProgram(SegcalProgram(), argc, argv);
}
