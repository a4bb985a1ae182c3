// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/check.h"
#include "core/sum_bytes.h"

namespace segcal {

// Sums that threads, machines or parts of a job add up on their own and join without rounding.
//
// A type of sums lists its members once, those that count and not those pending or configured,
//
//   static constexpr auto SumFields() { return std::tuple(&Bin::count, &Bin::confidence); }
//
// and is merged, packed and unpacked by that list. Members may be integers, which add; bool, which
// is true once one is; ExactSum; arrays, vectors and maps of sums, by place or key; pointers to
// sums; and other types of sums. What adds up in a way of its own has instead
//
//   void Merge(const T& other);  void Pack(SumWriter* out) const;  void Unpack(SumReader* in);
//
// Merging is exact and does not depend on order, and equal sums have equal bytes. Unpacking is into
// sums as they are before anything was added, and replaces them. Both sides have seen Flush().

// Also 128 bits, which the standard does not count among them.
template <class T>
concept SumInteger = std::integral<T> || std::same_as<T, __int128>;

template <class T>
concept HasSumFields = requires {
  T::SumFields();
};

// Whether sums can go to another machine; those of tests and of one case alone need not.
template <class T>
concept HasSumBytes = HasSumFields<T> || requires(const T& sums, SumWriter* out) {
  sums.Pack(out);
};

template <class T>
void MergeSums(const T& from, T* to);
template <class T>
void PackSums(const T& sums, SumWriter* out);
template <class T>
void UnpackSums(SumReader* in, T* sums);

namespace sums_internal {

// A vector that nothing was added to may be empty and stand for zeros.
template <class T>
void Grow(size_t size, std::vector<T>* sums) {
  if constexpr (std::default_initializable<T>) {
    if (sums->empty()) sums->resize(size);
  }
}
template <class T>
void Merge(const std::vector<T>& from, std::vector<T>* to) {
  Grow(from.size(), to);
  SEGCAL_DCHECK(from.empty() || from.size() == to->size());
  for (size_t i = 0; i < from.size(); ++i) MergeSums(from[i], &(*to)[i]);
}
template <class T>
void Pack(const std::vector<T>& sums, SumWriter* out) {
  out->Put(static_cast<int64_t>(sums.size()));
  for (const T& sum : sums) PackSums(sum, out);
}
template <class T>
void Unpack(SumReader* in, std::vector<T>* sums) {
  const auto size = static_cast<size_t>(in->TakeCount());
  Grow(size, sums);
  if (size != sums->size()) in->Refuse("a list", sums->size(), size);
  for (T& sum : *sums) UnpackSums(in, &sum);
}

template <class T, size_t n>
void Merge(const std::array<T, n>& from, std::array<T, n>* to) {
  for (size_t i = 0; i < n; ++i) MergeSums(from[i], &(*to)[i]);
}
template <class T, size_t n>
void Pack(const std::array<T, n>& sums, SumWriter* out) {
  for (const T& sum : sums) PackSums(sum, out);
}
template <class T, size_t n>
void Unpack(SumReader* in, std::array<T, n>* sums) {
  for (T& sum : *sums) UnpackSums(in, &sum);
}

template <class T>
void Merge(const std::map<int64_t, T>& from, std::map<int64_t, T>* to) {
  for (const auto& [key, sum] : from) MergeSums(sum, &(*to)[key]);
}
template <class T>
void Pack(const std::map<int64_t, T>& sums, SumWriter* out) {
  out->Put(static_cast<int64_t>(sums.size()));
  for (const auto& [key, sum] : sums) {
    out->Put(key);
    PackSums(sum, out);
  }
}
template <class T>
void Unpack(SumReader* in, std::map<int64_t, T>* sums) {
  for (int64_t left = in->TakeCount(); left > 0; --left) {
    const auto key = in->Take<int64_t>();
    UnpackSums(in, &(*sums)[key]);
  }
}

template <class T>
void Merge(const std::unique_ptr<T>& from, std::unique_ptr<T>* to) {
  (*to)->Merge(*from);
}
template <class T>
void Pack(const std::unique_ptr<T>& sums, SumWriter* out) {
  sums->Pack(out);
}
template <class T>
void Unpack(SumReader* in, std::unique_ptr<T>* sums) {
  (*sums)->Unpack(in);
}

}  // namespace sums_internal

template <class T>
void MergeSums(const T& from, T* to) {
  if constexpr (HasSumFields<T>) {
    std::apply([&](auto... field) { (MergeSums(from.*field, &(to->*field)), ...); },
               T::SumFields());
  } else if constexpr (std::same_as<T, bool>) {
    *to = *to || from;
  } else if constexpr (SumInteger<T>) {
    *to += from;
  } else if constexpr (requires { to->Merge(from); }) {
    to->Merge(from);
  } else {
    sums_internal::Merge(from, to);
  }
}

template <class T>
void PackSums(const T& sums, SumWriter* out) {
  if constexpr (HasSumFields<T>) {
    std::apply([&](auto... field) { (PackSums(sums.*field, out), ...); }, T::SumFields());
  } else if constexpr (SumInteger<T>) {
    out->Put(sums);
  } else if constexpr (requires { sums.Pack(out); }) {
    sums.Pack(out);
  } else {
    sums_internal::Pack(sums, out);
  }
}

template <class T>
void UnpackSums(SumReader* in, T* sums) {
  if constexpr (HasSumFields<T>) {
    std::apply([&](auto... field) { (UnpackSums(in, &(sums->*field)), ...); }, T::SumFields());
  } else if constexpr (SumInteger<T>) {
    *sums = in->Take<T>();
  } else if constexpr (requires { sums->Unpack(in); }) {
    sums->Unpack(in);
  } else {
    sums_internal::Unpack(in, sums);
  }
}

// Sums as bytes, and back into `sums` as they are before anything was added. An Error if the bytes
// are not those of such sums.
template <class T>
std::string PackedSums(const T& sums) {
  SumWriter out;
  PackSums(sums, &out);
  return out.Bytes();
}
template <class T>
void UnpackAllSums(std::string_view bytes, T* sums) {
  SumReader in(bytes);
  UnpackSums(&in, sums);
  in.ExpectEnd();
}

}  // namespace segcal
