// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "cli/command.h"
#include "cli/streams.h"

namespace segcal::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string Minutes(double seconds) {
  const auto whole = static_cast<int64_t>(std::lround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// Knows the stage and its start; draws at most every `interval`.
class Display {
 public:
  Display() : terminal_(IsTerminal(STDERR_FILENO)) {}
  ~Display() { ClearLine(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void Show(const Progress& progress) {
    if (progress.stage.empty()) return;
    const auto now = Clock::now();
    if (progress.stage != stage_) Begin(progress.stage, now);
    const double interval = terminal_ ? 0.1 : 5.0;
    if (std::chrono::duration<double>(now - shown_).count() < interval) return;
    shown_ = now;
    const double elapsed = std::chrono::duration<double>(now - began_).count();
    const double share = progress.total > 0 ? static_cast<double>(progress.done) /
                                                  static_cast<double>(progress.total)
                                            : 0.0;
    const std::string left = share > 0.0 ? Minutes(elapsed / share - elapsed) + " left" : "";
    const std::string detail = progress.detail.empty() ? Rate(progress, elapsed) : progress.detail;
    const std::string numbers = fmt::format("{:3.0f} %  {}  {}", 100.0 * share, detail, left);
    if (terminal_) {
      Draw(share, numbers);
    } else {
      Say(fmt::format("{}: {}\n", stage_, numbers));
    }
  }

 private:
  static constexpr int kBarWidth = 30;

  static std::string Rate(const Progress& progress, double elapsed) {
    const double rate = static_cast<double>(progress.done) / elapsed;
    return HumanCount(static_cast<int64_t>(rate)) + " voxels/s";
  }

  void Begin(const std::string& stage, Clock::time_point now) {
    ClearLine();
    stage_ = stage;
    began_ = now;
    shown_ = now;
  }

  void Draw(double share, const std::string& numbers) {
    const int filled = std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
    Say(fmt::format("\r\033[K{} [{}{}] {}",
                    stage_,
                    std::string(static_cast<size_t>(filled), '='),
                    std::string(static_cast<size_t>(kBarWidth - filled), ' '),
                    numbers));
    drawn_ = true;
  }

  void ClearLine() {
    if (drawn_) Say("\r\033[K");
    drawn_ = false;
  }

  const bool terminal_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point began_;
  Clock::time_point shown_;
};

}  // namespace

ProgressCallback ProgressDisplay() {
  auto display = std::make_shared<Display>();
  return ListenOnly([display](const Progress& progress) { display->Show(progress); });
}

std::string HumanCount(int64_t count) {
  const auto value = static_cast<double>(count);
  if (count >= 1'000'000'000) return fmt::format("{:.2f} G", value / 1e9);
  if (count >= 1'000'000) return fmt::format("{:.1f} M", value / 1e6);
  if (count >= 10'000) return fmt::format("{:.0f} k", value / 1e3);
  return fmt::format("{}", count);
}

}  // namespace segcal::cli
