//===- ClockOption.cpp - --mhz, the clock of a chip -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/options/Clock.h"
#include "compiler/tools/nnc/options/Options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {

void addClockOption(CLI::App &app, ModelOptions &options) {
  app.add_option("--mhz", options.mhz,
                 "Clock of the chip in MHz, for --max-latency and for times "
                 "that are estimated or follow from counted instructions; that "
                 "of the target's row unless given")
      ->type_name("N")
      ->check(numberFrom(0.001, 100000));
}

Clock findClock(target::MachineAttr machine, const ModelOptions &options) {
  double own = double(machine.getHost().getCore().getMhz());
  return {options.mhz.value_or(own), options.getClockFactor(machine)};
}

std::string Clock::describe(const ModelOptions &options) const {
  return options.mhz
             ? fmt::format("at {} MHz", mhz)
             : fmt::format("at {} MHz, the clock that is assumed for {} "
                           "(--mhz=N takes another)",
                           mhz, options.target);
}

} // namespace nnc::tools
