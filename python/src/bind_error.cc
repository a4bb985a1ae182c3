// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "bind.h"
#include "segcal/error.h"

namespace segcal::python {
namespace {

// The class that a stopped call raises; the module keeps it alive.
PyObject* cancelled = nullptr;

PyObject* TypeFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadData:
    case ErrorCode::kUnsupported:
      return PyExc_ValueError;
    case ErrorCode::kIo:
      return PyExc_OSError;
    case ErrorCode::kCancelled:
      return cancelled;
  }
  return PyExc_RuntimeError;
}

// Names of files need not be UTF-8.
nb::object TextOf(std::string_view message) {
  return nb::steal(PyUnicode_DecodeUTF8(
      message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
}

void Translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetObject(TypeFor(error.code()), TextOf(error.what()).ptr());
  }
}

}  // namespace

void BindErrors(nb::module_& m) {
  const nb::object type = nb::steal(PyErr_NewExceptionWithDoc(
      "segcal.Cancelled", "A progress callback returned False.", PyExc_RuntimeError, nullptr));
  cancelled = type.ptr();
  m.attr("Cancelled") = type;
  nb::register_exception_translator(Translate);
}

}  // namespace segcal::python
