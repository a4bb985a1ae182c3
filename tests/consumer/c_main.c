// SPDX-License-Identifier: Apache-2.0
// consumer_c MODEL: the C functions of the pages, by a C compiler, against the installed library.
#include <math.h>
#include <segcal/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the README, and of docs/c.md.
int calibrate(const char* file, const float* logits, const int64_t shape[3], float* probabilities);
int calibrate_image(const char* file,
                    const float* logits,
                    int64_t height,
                    int64_t width,
                    float* probabilities,
                    uint8_t* labels);

enum { kHeight = 7, kWidth = 5, kVoxels = kHeight * kWidth };

static int64_t count_classes(const char* file) {
  segcal_model* model = NULL;
  if (segcal_load(file, &model) != SEGCAL_OK) return 0;
  const int64_t classes = segcal_num_classes(model);
  const int described = strcmp(segcal_preserves(model), "argmax") == 0 &&
                        strcmp(segcal_input_kind(model), "logits") == 0 &&
                        strchr(segcal_report(model), '{') != NULL &&
                        segcal_class_name(model, classes) == NULL;
  segcal_free(model);
  return described ? classes : 0;
}

// Rows sum to one, and the labels are those of the logits.
static int right(const float* logits, const float* probs, const uint8_t* labels, int64_t classes) {
  for (int v = 0; v < kVoxels; ++v) {
    double sum = 0.0;
    int64_t best = 0;
    for (int64_t c = 0; c < classes; ++c) {
      sum += probs[c * kVoxels + v];
      if (logits[c * kVoxels + v] > logits[best * kVoxels + v]) best = c;
    }
    if (fabs(sum - 1.0) > 1e-5 || labels[v] != best) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int64_t classes = count_classes(argv[1]);
  const size_t size = (size_t)(classes * kVoxels);
  float* logits = malloc(size * sizeof(float) + 1);
  float* probs = malloc(size * sizeof(float) + 1);
  float* again = malloc(size * sizeof(float) + 1);
  uint8_t labels[kVoxels];
  for (size_t i = 0; i < size; ++i) logits[i] = (float)(i * 7919 % 1000) / 100.0f;
  const int64_t shape[] = {classes, kHeight, kWidth};
  const int good =
      classes > 1 && calibrate_image(argv[1], logits, kHeight, kWidth, probs, labels) == 0 &&
      right(logits, probs, labels, classes) && calibrate(argv[1], logits, shape, again) == 0 &&
      memcmp(probs, again, size * sizeof(float)) == 0 &&
      calibrate("no/such/model.json", logits, shape, again) != 0 &&
      strstr(segcal_last_error(), "no/such/model.json") != NULL;
  free(logits);
  free(probs);
  free(again);
  puts(good ? "consumer in C: ok" : "consumer in C: FAILED");
  return good ? 0 : 1;
}
