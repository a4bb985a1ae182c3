// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "segcal/dataset.h"
#include "segcal/error.h"

namespace {

segcal::Dataset TwoClasses() {
  segcal::Dataset dataset;
  dataset.name = "consumer";
  dataset.classes = {"road", "sky"};
  dataset.input = segcal::InputKind::kLogits;
  segcal::Case one;
  one.id = "0001";
  one.members = {"0001.npy"};
  dataset.cases = {one};
  return dataset;
}

bool RoundTrips(const std::string& path) {
  segcal::SaveDataset(path, TwoClasses());
  const segcal::Dataset read = segcal::LoadDataset(path);
  return read.num_classes() == 2 && read.classes[1] == "sky" && read.cases[0].id == "0001";
}

// An exception thrown in the library is caught by its type on this side.
bool MissingFileIsAnIoError(const std::string& path) {
  try {
    segcal::LoadDataset(path);
  } catch (const segcal::Error& error) {
    return error.code() == segcal::ErrorCode::kIo;
  }
  return false;
}

}  // namespace

// consumer FILE: exit 0 if the installed library writes, reads and refuses as documented.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string path = argv[1];
  const bool good = RoundTrips(path) && MissingFileIsAnIoError(path + ".missing");
  std::puts(good ? "consumer: ok" : "consumer: FAILED");
  return good ? 0 : 1;
}
