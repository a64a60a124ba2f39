//===- FlashLimit.cpp - A limit of code and weights together --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/FlashLimit.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/nnc/figures/WeightsFront.h"

namespace nnc::tools {

/// The largest number of limits of weights that are tried.
static constexpr int kMostLimits = 4;

ExitCode FlashLimit::measure(const ModelOptions &tried,
                             std::unique_ptr<MeasuredModule> &measured) const {
  auto own = std::make_unique<MeasuredModule>();
  if (ExitCode code = own->prepared.open(tried, wanted); code != ExitCode::done)
    return code;
  const Manifest &manifest = own->prepared.manifest;
  auto code = CodeBytes::measure(manifest, compiler, tried.getLevel(),
                                 /*wantsLayers=*/false);
  if (!code)
    return fail(code.takeError(),
                manifest.hasCustoms() ? ExitCode::usage : ExitCode::ownFault);
  if (!*code)
    return fail(makeError("--max-flash needs the size of the code: install the "
                          "target's compiler"),
                ExitCode::usage);
  own->code = std::move(**code);
  measured = std::move(own);
  return ExitCode::done;
}

/// Measures as measure() does, but returns false without a report if that
/// fails, for instance because the weights cannot take so few bytes.
bool FlashLimit::tryMeasure(const ModelOptions &tried,
                            std::unique_ptr<MeasuredModule> &measured) const {
  DroppedReports dropped;
  return measure(tried, measured) == ExitCode::done;
}

/// Measures the modules with the smallest weights, to find the fewest bytes
/// that the model needs. A module with slightly larger weights may have less
/// code.
ExitCode FlashLimit::findLeast() {
  constexpr size_t mostPoints = 3;
  DriverOptions own = wanted;
  own.keepStages = own.findsFront = true;
  Driver driver(options, own);
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (driver.*step)(); code != ExitCode::done)
      return code;
  const std::vector<double> front = listFront(driver.layered());
  for (size_t i = 0; i < std::min(front.size(), mostPoints); ++i) {
    ModelOptions tried = options;
    tried.maxWeights = int64_t(front[front.size() - 1 - i]);
    std::unique_ptr<MeasuredModule> least;
    if (tryMeasure(tried, least) &&
        least->getFlash() < getModule().getFlash()) {
      module = std::move(least);
      best = tried;
    }
  }
  return ExitCode::done;
}

ExitCode FlashLimit::find() {
  // Without a limit of weights, --max-latency would choose the fewest bytes of
  // weights, whose decoders take code. This limit always holds.
  if (options.limitsPlan() && !options.maxWeights)
    options.maxWeights = std::numeric_limits<int64_t>::max() - 1;
  best = options;
  if (ExitCode code = search(); code != ExitCode::done || fits())
    return code;
  return findLeast();
}

/// Compiles the model without regard to `maxFlash`, and then with limits of its
/// weights until it fits.
ExitCode FlashLimit::search() {
  if (ExitCode code = measure(options, whole); code != ExitCode::done)
    return code;
  ModelOptions tried = options;
  for (int64_t limit = maxFlash - whole->code.total, step = 0;
       !fits() && limit > 0 && step < kMostLimits; ++step) {
    tried.maxWeights = std::min(limit, options.maxWeights.value_or(limit));
    std::unique_ptr<MeasuredModule> next;
    if (!tryMeasure(tried, next))
      break;
    limit = next->prepared.manifest.weightBytes -
            std::max<int64_t>(next->getFlash() - maxFlash, 0);
    if (next->getFlash() < getModule().getFlash()) {
      module = std::move(next);
      best = tried;
    }
  }
  return ExitCode::done;
}

} // namespace nnc::tools
