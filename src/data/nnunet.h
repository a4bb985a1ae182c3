// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/index_files.h"
#include "segcal/dataset.h"

namespace segcal {

// What nnU-Net has left in its folders. Pickles are never opened.
struct NnunetFolders {
  std::vector<MemberFiles> members;  // <case>.npz; the group of a case is its fold, "fold_0"
  bool out_of_fold = false;          // each case from the fold that was not trained on it
  std::string dataset_json;          // empty: there is none
  std::string plans_json;            // empty: there is none
  std::string file_ending;           // of images and label maps: ".nii.gz"
  std::vector<std::string> notes;    // what a person should know
};

// Finds the predictions in `folders`, each of which is
// - a trained model, that is a folder with fold_*/validation; or some of these folders: together
//   they are one member, and hold every case once;
// - a folder of predictions <case>.npz: a member.
// A case without probabilities, with a label map alone, is an Error unless allow_missing.
// `dataset_json` may be empty: it is looked for in the folders and up to three above.
NnunetFolders FindNnunetFolders(const std::vector<std::string>& folders,
                                const std::string& dataset_json,
                                bool allow_missing);

// Fills dataset->cases; returns what a person should know. Labels and images of `options` may be
// folders; see segcal/index.h.
std::vector<std::string> IndexNnunet(const NnunetFolders& found,
                                     const IndexOptions& options,
                                     Dataset* dataset);

// The folder of true labels that nnU-Net itself would take: labelsTr or gt_segmentations of the
// data set, below $nnUNet_raw and $nnUNet_preprocessed, or beside the folder of results. An Error
// that lists where it was looked for unless it is there.
std::string FindNnunetLabels(const NnunetFolders& found);

// Classes, background and ignore label from nnU-Net's dataset.json; region-based label sets are
// refused.
void ReadNnunetLabels(const std::string& path, Dataset* dataset);

// One of nnU-Net's readers turns images to RAS order and label maps back, but not the probabilities
// it stores. Throws if `label_map`, a NIfTI file, is in another order than these.
void CheckNnunetOrientation(const NnunetFolders& found, const std::string& label_map);

}  // namespace segcal
