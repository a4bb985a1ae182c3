// SPDX-License-Identifier: Apache-2.0
#include "train/run/member.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/random_order.h"
#include "core/throw.h"
#include "train/run/predictor.h"
#include "train/run/state_file.h"

namespace segcal::train {
namespace {

// What a random stream of a member is for.
constexpr uint64_t kInitial = 1;
constexpr uint64_t kOrder = 2;
constexpr uint64_t kPatch = 3;

// Voxels per class: in the labels, in the prediction, in both.
struct Overlap {
  std::vector<double> truth;
  std::vector<double> predicted;
  std::vector<double> common;

  explicit Overlap(int64_t classes)
      : truth(static_cast<size_t>(classes)), predicted(truth), common(truth) {}
  void Add(int32_t label, int64_t decision) {
    truth[static_cast<size_t>(label)] += 1.0;
    predicted[static_cast<size_t>(decision)] += 1.0;
    if (label == decision) common[static_cast<size_t>(label)] += 1.0;
  }
  // Mean over the classes that are in either.
  double Dice(int64_t background) const {
    double sum = 0.0;
    double count = 0.0;
    for (size_t c = 0; c < truth.size(); ++c) {
      const double size = truth[c] + predicted[c];
      if (static_cast<int64_t>(c) == background || size == 0.0) continue;
      sum += 2.0 * common[c] / size;
      count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
  }
};

}  // namespace

Score Validate(const UNet& net,
               const UNetState& state,
               const std::vector<ImageCase>& cases,
               int64_t background) {
  Overlap overlap(net.options().classes);
  double sum = 0.0;
  double count = 0.0;
  for (const ImageCase& image : cases) {
    const Tensor logits = PredictImage(net, state, image, {}).contiguous();
    const Tensor log_probs = at::log_softmax(logits, 0).contiguous();
    const Tensor decisions = logits.argmax(0).contiguous();
    const auto* values = log_probs.data_ptr<float>();
    const auto* decision = decisions.data_ptr<int64_t>();
    const int64_t voxels = NumVoxels(image.extent);
    for (int64_t v = 0; v < voxels; ++v) {
      const int32_t label = image.labels[static_cast<size_t>(v)];
      if (label < 0) continue;
      sum -= static_cast<double>(values[label * voxels + v]);
      count += 1.0;
      overlap.Add(label, decision[v]);
    }
  }
  return {.nll = sum / count, .dice = overlap.Dice(background)};
}

MemberTraining::MemberTraining(const TrainSettings& settings,
                               const TrainData& data,
                               const std::string& folder,
                               const NetworkKey& key)
    : settings_(settings),
      data_(data),
      folder_(folder),
      key_(key),
      net_(settings.network),
      loss_(MakeLoss(settings.loss, settings.loss_options)) {
  for (const ImageCase& image : data.train) {
    if (key.fold >= 0 && data.fold_of.at(image.id) == key.fold) continue;
    const int64_t planes = settings.network.axes == 2 ? image.extent[0] : 1;
    for (int64_t z = 0; z < planes; ++z) units_.push_back({.image = &image, .plane = z});
  }
  state_ = net_.Initialise(Stream(kInitial, 0));
  adam_ = Adam::For(state_.weights);
}

Rng MemberTraining::Stream(uint64_t use, uint64_t number) const {
  const int64_t network = key_.member + kMaxMembers * (key_.fold + 1);
  return Rng(Rng(settings_.seed, static_cast<uint64_t>(network)).At(use), number);
}

int64_t MemberTraining::StepsPerEpoch() const {
  return (std::ssize(units_) * settings_.patches + settings_.batch - 1) / settings_.batch;
}

int64_t MemberTraining::best_epoch() const {
  int64_t best = -1;
  const auto better = [&](const EpochResult& a, const EpochResult& b) {
    return a.dice > b.dice || (a.dice == b.dice && a.nll < b.nll);
  };
  for (int64_t e = 0; e < epochs_done(); ++e) {
    if (best < 0 || better(history_[static_cast<size_t>(e)], history_[static_cast<size_t>(best)]))
      best = e;
  }
  return best;
}

void MemberTraining::Report(int64_t step) const {
  const int64_t epoch = std::min(epochs_done() + 1, settings_.epochs);
  std::string detail = fmt::format("epoch {} of {}", epoch, settings_.epochs);
  if (!history_.empty()) {
    const EpochResult& last = history_.back();
    detail += fmt::format(
        ", loss {:.4f}, validation NLL {:.4f}, Dice {:.3f}", last.loss, last.nll, last.dice);
  }
  ReportProgress({.stage = Name(key_),
                  .done = epochs_done() * StepsPerEpoch() + step,
                  .total = settings_.epochs * StepsPerEpoch(),
                  .detail = std::move(detail)});
}

MemberTraining::Batch MemberTraining::MakeBatch(const std::vector<int64_t>& order,
                                                int64_t step) const {
  const int64_t first = step * settings_.batch;
  const int64_t count = std::min(settings_.batch, std::ssize(order) - first);
  const int64_t voxels = NumVoxels(settings_.patch);
  Batch batch{.images = at::empty({count, data_.channels, voxels}),
              .labels = at::empty({count, voxels}, at::kLong)};
  auto* values = batch.images.data_ptr<float>();
  auto* labels = batch.labels.data_ptr<int64_t>();
  ParallelFor(count, at::get_num_threads(), [&](int64_t i, int) {
    const int64_t number = order[static_cast<size_t>(first + i)];
    const Unit& unit = units_[static_cast<size_t>(number % std::ssize(units_))];
    const auto place = static_cast<uint64_t>(epochs_done() * std::ssize(order) + number);
    PatchView view =
        DrawView(unit.image->extent, settings_.patch, settings_.augment, Stream(kPatch, place));
    if (settings_.network.axes == 2) view.first[0] = static_cast<double>(unit.plane);
    const int64_t size = data_.channels * voxels;
    CopyPatch(*unit.image,
              view,
              settings_.patch,
              {values + i * size, static_cast<size_t>(size)},
              {labels + i * voxels, static_cast<size_t>(voxels)});
  });
  const size_t from = settings_.network.axes == 2 ? 1 : 0;
  std::vector<int64_t> shape = {count};
  shape.insert(
      shape.end(), settings_.patch.begin() + static_cast<int64_t>(from), settings_.patch.end());
  batch.labels = batch.labels.view(shape);
  shape.insert(shape.begin() + 1, data_.channels);
  batch.images = batch.images.view(shape);
  return batch;
}

void MemberTraining::Stop(const std::string& what) const {
  const std::string kept = history_.empty() ? std::string("no epoch was complete")
                                            : fmt::format("{} keeps the network after epoch {}",
                                                          LastFile(folder_, key_),
                                                          history_.size());
  Throw(ErrorCode::kUnsupported,
        "{}: {} epoch {}; {}. A lower learning rate may help",
        Name(key_),
        what,
        history_.size() + 1,
        kept);
}

double MemberTraining::TrainStep(const Batch& batch, double rate, int64_t step) {
  Tensor weights = state_.weights.detach().requires_grad_();
  const Tensor logits = net_.Forward(
      {.weights = weights, .statistics = state_.statistics}, batch.images, UNet::Mode::kTrain);
  const Tensor loss = loss_->Compute(LossBatch(logits, batch.labels, settings_.class_weights));
  const auto value = loss.item<double>();
  if (!std::isfinite(value))
    Stop(fmt::format("the loss became {} in step {} of", std::fabs(value), step + 1));
  loss.backward();
  adam_.Step(weights.grad(), rate, &state_.weights);
  return value;
}

double MemberTraining::TrainEpoch() {
  const int64_t epoch = epochs_done();
  const double rate = 2 * epoch < settings_.epochs ? settings_.rate : 0.1 * settings_.rate;
  const std::vector<int64_t> order = RandomOrder(std::ssize(units_) * settings_.patches,
                                                 Stream(kOrder, static_cast<uint64_t>(epoch)));
  double sum = 0.0;
  const int64_t steps = StepsPerEpoch();
  for (int64_t step = 0; step < steps; ++step) {
    Report(step);
    sum += TrainStep(MakeBatch(order, step), rate, step);
  }
  return sum / static_cast<double>(steps);
}

void MemberTraining::Run() {
  while (epochs_done() < settings_.epochs) {
    const double loss = TrainEpoch();
    const Score score = Validate(net_, state_, data_.validation, data_.background);
    // Not saved: the network of the epoch before is the last good one.
    if (!std::isfinite(score.nll))
      Stop(fmt::format("the validation NLL became {} after", std::fabs(score.nll)));
    history_.push_back({.loss = loss, .nll = score.nll, .dice = score.dice});
    Save(best_epoch() == epochs_done() - 1);
  }
  Report(0);
}

std::vector<Tensor> MemberTraining::Vectors() const {
  return {state_.weights, state_.statistics, adam_.mean, adam_.squares};
}

void MemberTraining::Save(bool is_best) const {
  const Json history = JsonItems(history_, [](const EpochResult& epoch) {
    return Json::array({JsonNumber(epoch.loss), JsonNumber(epoch.nll), JsonNumber(epoch.dice)});
  });
  const Json header = {{"epochs", epochs_done()}, {"steps", adam_.steps}, {"history", history}};
  // The best one first: after a kill in between, the last one makes it again.
  if (is_best) SaveState(BestFile(folder_, key_), header, {state_.weights, state_.statistics});
  SaveState(LastFile(folder_, key_), header, Vectors());
}

void MemberTraining::Resume() {
  const Json header = LoadState(LastFile(folder_, key_), Vectors());
  adam_.steps = header.at("steps").get<int64_t>();
  history_.clear();
  for (const Json& row : header.at("history")) {
    const auto number = [&](size_t i) {
      return row.at(i).is_number() ? row.at(i).get<double>() : std::nan("");
    };
    history_.push_back({.loss = number(0), .nll = number(1), .dice = number(2)});
  }
}

}  // namespace segcal::train
