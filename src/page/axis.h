// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace segcal {

// A range of numbers along pixels. Low may be drawn at the larger pixel, as on a vertical axis.
class Axis {
 public:
  // Widened to round numbers; an empty or infinite range becomes [0, 1].
  Axis(double low, double high, double from_pixel, double to_pixel);

  double Pixel(double value) const noexcept;
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }
  // Round numbers between the ends, about five.
  std::vector<double> Ticks() const;
  // A tick with as many decimals as tell it from its neighbours.
  std::string Label(double tick) const;

 private:
  double low_;
  double high_;
  double from_pixel_;
  double to_pixel_;
  double step_;
};

// The range of the finite values it was given.
class RangeOfValues {
 public:
  void Add(double value) noexcept;
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }
  bool empty() const noexcept { return low_ > high_; }

 private:
  double low_ = 1e300;
  double high_ = -1e300;
};

}  // namespace segcal
