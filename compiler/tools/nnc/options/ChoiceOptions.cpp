//===- ChoiceOptions.cpp - --layouts, --precision, --optimize and --package
//===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/quantization/Quantization.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"
#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"

#include <CLI/CLI.hpp>

namespace nnc::tools {

void addLayoutsOption(CLI::App &app, ModelOptions &options) {
  static const std::vector<std::pair<std::string, LayoutScope>> scopes = {
      {"plain", LayoutScope::plain},
      {"local", LayoutScope::local},
      {"fixed", LayoutScope::fixed},
      {"global", LayoutScope::global}};
  addChoice(app, "--layouts", options.layouts, scopes,
            "Layouts to choose among, to see what they are worth: "
            "row-major order (plain), others inside each layer but not "
            "between two (local), one size of blocks (fixed), or all; "
            "all but the last with the same register tiles everywhere")
      ->default_str("global");
}

void addPrecisionOption(CLI::App &app, ModelOptions &options) {
  std::vector<std::pair<std::string, Precision>> precisions;
  for (Precision each : kPrecisions)
    precisions.emplace_back(getName(each).str(), each);
  addChoice(app, "--precision", options.precision, precisions,
            "What layers of floats compute with and store: floats (f32), "
            "floats that products round to tf32, bfloat16 or halves (f16) "
            "where the target has arithmetic on them, or 8-bit integers, whose "
            "ranges --calibrate finds; inputs and outputs stay floats")
      ->default_str("f32");
  app.add_option("--calibrate", options.quantization.samples,
                 "Samples of the inputs for --precision=i8, as "
                 "--calibration of nnc quantize takes them")
      ->type_name("DIR|FILE.npz");
  options.quantization.quantize = quantizeImported;
  addShareOption(
      app, "--max-drop", options.quantization.maxDrop, "0.5%",
      "With --precision=i8, layers of floats beside those of 8-bit integers, "
      "whichever is faster on the target, and further ones until the agreement "
      "of argmax of the first output with the float model drops by no more "
      "than this on the samples; or the relative L2 error, where that output "
      "does not look like scores of classes");
}

void addOptimizeOption(CLI::App &app, ModelOptions &options) {
  std::vector<std::pair<std::string, Optimize>> values;
  for (Optimize value : {Optimize::size, Optimize::balance, Optimize::speed})
    values.emplace_back(getName(value).str(), value);
  addChoice(app, "--optimize", options.optimize, values,
            "What counts on a target without an operating system: few bytes of "
            "code, for which layers share functions that get their sizes as "
            "arguments (size); little time, for which each layer has code for "
            "its own sizes (speed); or what bytes gain in time (balance)")
      ->default_str("balance");
}

void addPackageOption(CLI::App &app, ModelOptions &options) {
  using codegen::Package;
  static const std::vector<std::pair<std::string, Package>> packages = {
      {"none", Package::none},
      {"zephyr", Package::zephyr},
      {"esp-idf", Package::espIdf},
      {"platformio", Package::platformio},
      {"arduino", Package::arduino}};
  addChoice(app, "--package", options.package, packages,
            "Build system to make the folder a package for: a module of "
            "Zephyr, a component of ESP-IDF, a library of PlatformIO or "
            "Arduino; CMake alone unless given. Weights are a C array unless "
            "--weights is given")
      ->default_str("none");
}

} // namespace nnc::tools
