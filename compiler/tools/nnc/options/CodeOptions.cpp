//===- CodeOptions.cpp - The options that decide the code of a model ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"

#include "dialects/exec/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

/// Returns why the module cannot have this name, with a suggestion for another
/// name, or an empty string if the name is allowed.
static std::string findNameProblem(const std::string &given) {
  std::string problem = exec::findModuleNameProblem(given);
  return problem.empty() ? ""
                         : fmt::format("'{}' {}; try --name={}", given, problem,
                                       exec::makeModuleName(given));
}

/// Parses [INPUT=]AXIS[:FRAMES].
static std::optional<StreamChoice> parseStream(llvm::StringRef text) {
  StreamChoice choice;
  auto [input, numbers] = text.rsplit('=');
  if (!text.contains('='))
    numbers = text;
  else if (input.empty())
    return std::nullopt;
  else
    choice.input = input.str();
  auto [axis, frames] = numbers.split(':');
  if (!llvm::to_integer(axis, choice.axis, 10) || choice.axis < 0)
    return std::nullopt;
  if (numbers.contains(':') &&
      (!llvm::to_integer(frames, choice.frames, 10) || choice.frames < 1))
    return std::nullopt;
  return choice;
}

void addModelOptions(CLI::App &app, ModelOptions &options) {
  addModelFileOptions(app, options);
  addValueOption(app, options);
  addRepeatedOption(
      app, "--custom", "OPERATOR:FILE.h[:function=NAME][:scratch=BYTES]",
      [&options] { options.customs = {}; },
      [&options](const std::string &argument) {
        return fmt::format("{}",
                           fmt::join(options.customs.add(argument), "; "));
      },
      "C function for an operator that nnc lacks: the name of a TFLite "
      "custom operator, or TYPE or DOMAIN::TYPE of an ONNX one; the header "
      "that declares the function, which is called like the header unless "
      "its name is given; and the bytes that it works in. nnc_custom.h, "
      "which is written beside the code, says what it is given");
  addTargetOption(app, options.target,
                  "Machine to make code for, see 'nnc targets'");
  app.add_option(
         "--name", options.name,
         "Name of the C functions and files; from the model's file name "
         "unless given")
      ->check(findNameProblem)
      ->type_name("N");
  app.add_option_function<std::string>(
         "--stream",
         [&options](const std::string &given) {
           options.stream = parseStream(given);
         },
         "Axis of an input that is time: the code takes one frame of it, or so "
         "many, in a run, and keeps what it needs of the past in a struct that "
         "the caller owns. Results are those of the whole window once it is "
         "full")
      ->check([](const std::string &given) -> std::string {
        return parseStream(given) ? ""
                                  : given + " is not AXIS, INPUT=AXIS or "
                                            "AXIS:FRAMES";
      })
      ->type_name("[INPUT=]AXIS[:FRAMES]");
  static const std::vector<std::pair<std::string, PortMemory>> owners = {
      {"caller", PortMemory::caller},
      {"arena", PortMemory::arena},
      {"device", PortMemory::device},
      {"host", PortMemory::host}};
  addChoice(app, "--io", options.ports, owners,
            "Where inputs and outputs lie: in memory of the caller's, which is "
            "read and written in place (caller, unless given), or in the "
            "arena, where other values take the place of inputs that are not "
            "needed any more. For GPUs, the caller's memory is that of the GPU "
            "(device, the same as caller), or that of the CPU, from and to "
            "which each run copies (host)");
  addWeightsOption(app, options, /*places=*/{"embed", "array", "file"},
                   "; or where they go in the code: into the object file by "
                   "the assembler's .incbin (embed), as a C array, or a file "
                   "that the caller maps; embed unless given, array for "
                   "targets without an operating system and with --package. "
                   "Give the option twice for both");
  app.add_option(
         "--max-error", options.maxError,
         "Most that methods which compute less (Winograd's, Strassen's) "
         "may add to the outputs by rounding, estimated, root mean "
         "square, relative; 0 for none of them. Given with --precision=bf16 or "
         "f16, it bounds their rounding, too")
      ->type_name("E")
      ->check([](const std::string &given) -> std::string {
        double value;
        bool isNumber = llvm::to_float(given, value) && value >= 0;
        return isNumber ? "" : given + " is no number from 0 on";
      })
      ->each([&options](const std::string &) { options.boundRounding = true; })
      ->capture_default_str();
  static const std::vector<std::pair<std::string, std::string>> encodings = {
      {"auto", "auto"},
      {"dense", "dense"},
      {"codebook", "codebook"},
      {"csr", "csr"},
      {"huffman", "huffman"}};
  addChoice(app, "--weights-encoding", options.weightsEncoding, encodings,
            "How weights are stored that take fewer bytes so: places in tables "
            "of a few values (codebook), the values that are not zero with "
            "the gaps between them (csr), Huffman codes of values or of both "
            "(huffman), or as they are (dense). Layers that cannot read them "
            "so have them decoded into working memory first. Or places in "
            "tables where that is estimated to be faster (auto). The values "
            "stay the same")
      ->default_str("auto");
  addLimit(app, "--max-weights", options.maxWeights,
           "Most bytes of weights: so many are stored in fewer bytes that "
           "these suffice, those whose decoding costs the least time; "
           "--weights-encoding limits in which way");
  app.add_option("--tuning", options.tuning,
                 "Costs measured by 'nnc tune', to choose routines by")
      ->type_name("FILE");
  app.add_option("--probe", options.probe,
                 "Figures of the machine measured by 'nnc target-probe', to "
                 "estimate costs by; the target's own unless given")
      ->type_name("FILE");
}

} // namespace nnc::tools
