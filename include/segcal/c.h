// SPDX-License-Identifier: Apache-2.0
#pragma once

// The library from C, and from whatever can call C: load a model, ask what it is, apply it to
// arrays. Compiles as C99 and as C++. Its name is not segcal.h because that is the C++ one.
//
// Functions that can fail return a status, and segcal_last_error() says why. No C++ exception
// leaves them. All of them can be called from any thread at any time, on the same model too, but
// for segcal_free while the model is in use.
#include <stddef.h>
#include <stdint.h>

#include "segcal/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// Names and types as C has them.
// NOLINTBEGIN(readability-identifier-naming,modernize-*)

typedef enum segcal_status {
  SEGCAL_OK = 0,
  SEGCAL_INVALID_ARGUMENT = 1,  // what the caller gave cannot be right
  SEGCAL_BAD_DATA = 2,          // a file or array whose content cannot be right
  SEGCAL_IO = 3,                // a file cannot be opened or read
  SEGCAL_UNSUPPORTED = 4,       // well formed, but not something segcal handles
  SEGCAL_OUT_OF_MEMORY = 5,
  SEGCAL_INTERNAL = 6  // a mistake of ours
} segcal_status;

// Types of array elements.
typedef enum segcal_dtype {
  SEGCAL_F16 = 0,
  SEGCAL_F32 = 1,
  SEGCAL_F64 = 2,
  SEGCAL_U8 = 3,
  SEGCAL_I8 = 4,
  SEGCAL_U16 = 5,
  SEGCAL_I16 = 6,
  SEGCAL_U32 = 7,
  SEGCAL_I32 = 8,
  SEGCAL_U64 = 9,
  SEGCAL_I64 = 10,
  SEGCAL_BOOL = 11,
  SEGCAL_BF16 = 12  // of members alone
} segcal_dtype;

// A fitted calibrator; immutable.
typedef struct segcal_model segcal_model;

// An array that is read. What it is: "member", once for each member of an ensemble, in order, (C,
// spatial...), float16, bfloat16, float32 or float64; "mask" (spatial...), zero where voxels take
// no part; "image" (spatial...) or (spatial..., channels), for models that look at one. Element (i,
// j, ...) lies at data[i * strides[0] + j * strides[1] + ...], strides in elements and of any sign.
typedef struct segcal_input {
  const char* name;
  const void* data;
  int32_t dtype;           // a segcal_dtype
  int32_t num_axes;        // 1 to 8
  const int64_t* shape;    // [num_axes]
  const int64_t* strides;  // [num_axes], or NULL: C order
} segcal_input;

// An array that is written: "probabilities" (C, spatial...), "confidence", "entropy" (nats) and
// "temperature" (spatial...), float16 or float32; "labels" (spatial...), uint8 up to 256 classes,
// uint16 or int32. Its memory must not overlap any other array.
typedef struct segcal_output {
  const char* name;
  void* data;
  int32_t dtype;
  int32_t num_axes;
  const int64_t* shape;
  const int64_t* strides;
} segcal_output;

// "0.2.0"
SEGCAL_EXPORT const char* segcal_version(void);

// What the last call on this thread that failed says: file or argument, value found, value
// required. Valid until the next call on this thread.
SEGCAL_EXPORT const char* segcal_last_error(void);

// Reads a model file, or its text from memory, `size` bytes. *model is set only where it is OK, and
// is to be freed.
SEGCAL_EXPORT segcal_status segcal_load(const char* path, segcal_model** model);
SEGCAL_EXPORT segcal_status segcal_load_text(const char* text, size_t size, segcal_model** model);
SEGCAL_EXPORT void segcal_free(segcal_model* model);

// What a model is. Texts belong to the model and live as long. Of a NULL model, 0, -1 or NULL.
SEGCAL_EXPORT const char* segcal_pipeline(const segcal_model* model);    // "cms_ap(z)"
SEGCAL_EXPORT const char* segcal_input_kind(const segcal_model* model);  // "logits", ...
SEGCAL_EXPORT int64_t segcal_num_classes(const segcal_model* model);
SEGCAL_EXPORT const char* segcal_class_name(const segcal_model* model, int64_t index);
// The fewest members it can be applied to: more than one where it looks at a certain one.
SEGCAL_EXPORT int64_t segcal_min_members(const segcal_model* model);
SEGCAL_EXPORT int segcal_needs_image(const segcal_model* model);
SEGCAL_EXPORT int segcal_translation_invariant(const segcal_model* model);
SEGCAL_EXPORT const char* segcal_preserves(const segcal_model* model);  // "none", "argmax", "order"
// What fitting it found out, as JSON (docs/formats.md); "null" for a model that was not fitted.
SEGCAL_EXPORT const char* segcal_report(const segcal_model* model);

// Applies a model to one image or volume. `options` is JSON, for example {"threads": 2}, or NULL;
// threads 0 is all there are. Where it fails, outputs may be written in part.
SEGCAL_EXPORT segcal_status segcal_apply(const segcal_model* model,
                                         const segcal_input* inputs,
                                         size_t num_inputs,
                                         const segcal_output* outputs,
                                         size_t num_outputs,
                                         const char* options);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif
