//===- Command.cpp - What the commands of nnc have in common --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/Options.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"
#include "compiler/tools/nnc/quantize/QuantizeModule.h"

#include "dialects/exec/Identifiers.h"
#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

/// Parses a dimension: "48", or sizes from 32 to 640 in steps of 16 as
/// "32..640:16", where the step is 1 if it is left out.
static std::optional<DimRange> parseDim(llvm::StringRef text) {
  DimRange range;
  auto [low, rest] = text.split("..");
  auto [high, step] = rest.split(':');
  bool hasRange = text.contains("..");
  if (low.getAsInteger(10, range.low) || range.low < 0)
    return std::nullopt;
  range.high = range.low;
  if (!hasRange)
    return range;
  bool hasStep = rest.contains(':');
  if (high.getAsInteger(10, range.high) ||
      (hasStep && step.getAsInteger(10, range.step)) || range.low < 1 ||
      range.high < range.low || range.step < 1 ||
      (range.high - range.low) % range.step != 0)
    return std::nullopt;
  return range;
}

/// Parses a text such as "x=1x3x48x320" into an input's name and its sizes. The
/// name itself may contain a '='.
static std::string parseShape(const std::string &text, ModelOptions &options) {
  auto [name, sizes] = llvm::StringRef(text).rsplit('=');
  std::vector<int64_t> shape;
  std::vector<DimRange> ranges;
  bool valid = !name.empty() && name.size() < text.size();
  if (sizes != "scalar")
    for (llvm::StringRef word : llvm::split(sizes, 'x')) {
      std::optional<DimRange> range = parseDim(word);
      valid = valid && range;
      ranges.push_back(range.value_or(DimRange()));
      shape.push_back(ranges.back().high);
    }
  if (!valid)
    return fmt::format(
        "'{}' is not of the form INPUT=1x3x48x320, "
        "INPUT=1..8x3x32..640:32x320 or INPUT=scalar, where sizes "
        "that vary are 1 or more",
        text);
  if (llvm::any_of(ranges, [](const DimRange &r) { return r.varies(); }))
    options.ranges[name.str()] = ranges;
  if (options.shapes.emplace(name.str(), shape).second)
    return "";
  // The second shape of each input is that of the second function.
  auto lacksIt = [input = name.str()](const auto &shapes) {
    return !shapes.count(input);
  };
  auto other = llvm::find_if(options.otherShapes, lacksIt);
  if (other == options.otherShapes.end())
    other = options.otherShapes.emplace(other);
  other->emplace(name.str(), shape);
  return "";
}

/// Parses a text such as "axes=0,-1" or "axes=axes.npy" into the value of an
/// input. Returns what is wrong with it, or an empty string.
static std::string parseValue(const std::string &text, ModelOptions &options) {
  auto [name, value] = llvm::StringRef(text).rsplit('=');
  if (name.empty() || value.empty())
    return fmt::format("'{}' is not of the form INPUT=1,2,3 or INPUT=FILE.npy",
                       text);
  frontends::GivenValue given;
  given.text = value.str();
  if (value.ends_with(".npy")) {
    llvm::Expected<Tensor> tensor = readNpy(given.text);
    if (!tensor)
      return llvm::toString(tensor.takeError());
    given.dtype = dtypeName(tensor->dtype);
    given.shape = tensor->shape;
    given.bytes = std::move(tensor->data);
  }
  if (!options.values.emplace(name.str(), std::move(given)).second)
    return fmt::format("two values for input '{}'", name.str());
  return "";
}

/// Adds an option whose value is one of several words.
template <class T>
static CLI::Option *
addChoice(CLI::App &app, const char *flag, T &value,
          const std::vector<std::pair<std::string, T>> &choices,
          const char *help) {
  std::vector<std::string> words;
  for (const auto &[word, meaning] : choices)
    words.push_back(word);
  CLI::Option *option =
      app.add_option_function<std::string>(
             flag,
             [&value, choices](const std::string &given) {
               for (const auto &[word, meaning] : choices)
                 if (word == given)
                   value = meaning;
             },
             help)
          ->type_name(fmt::format("{}", fmt::join(words, "|")));
  setWords(*option, [words] { return words; });
  return option;
}

/// Returns what --target may be.
static std::vector<std::string> getTargetNames() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> names = {"native"};
  for (target::MachineAttr machine : target::getMachines(&context))
    names.push_back(machine.getName().str());
  return names;
}

/// Returns why there is no such target, or an empty string if there is.
static std::string findTargetProblem(const std::string &given) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &said) { problem = said.str(); });
  if (succeeded(target::getMachine(given, mlir::UnknownLoc::get(&context))))
    return "";
  return problem + frontends::didYouMean(given, getTargetNames());
}

void addTargetOption(CLI::App &app, std::string &target, const char *help) {
  CLI::Option *option = app.add_option("--target", target, help)
                            ->type_name("T")
                            ->capture_default_str();
  setWords(*option, getTargetNames, findTargetProblem);
}

/// Returns why the module cannot have this name and a name that it could have,
/// or an empty string if the name is fine.
static std::string findNameProblem(const std::string &given) {
  std::string problem = exec::findModuleNameProblem(given);
  return problem.empty() ? ""
                         : fmt::format("'{}' {}; try --name={}", given, problem,
                                       exec::makeModuleName(given));
}

void addRepeatedOption(CLI::App &app, const std::string &name,
                       const std::string &type, std::function<void()> clear,
                       std::function<std::string(const std::string &)> parse,
                       const std::string &help) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [=](const std::vector<std::string> &arguments) {
           std::vector<std::string> problems;
           clear();
           for (const std::string &argument : arguments)
             if (std::string problem = parse(argument); !problem.empty())
               problems.push_back(problem);
           if (!problems.empty())
             throw CLI::ValidationError(
                 name, fmt::format("{}", fmt::join(problems, "; ")));
         },
         help)
      ->allow_extra_args(false)
      ->type_name(type);
}

llvm::json::Value orNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? llvm::json::Value(*value)
                                        : llvm::json::Value(nullptr);
}

/// Returns the type of a file with a model: "FILE.onnx|FILE.tflite".
static std::string typeOfModels() {
  std::vector<std::string> types;
  for (const frontends::Frontend *frontend : frontends::getFrontends())
    for (llvm::StringRef extension : llvm::split(frontend->extensions, ", "))
      types.push_back("FILE" + extension.str());
  return llvm::join(types, "|");
}

void addModelFileOptions(CLI::App &app, ModelOptions &options) {
  app.add_option("MODEL", options.model,
                 "The model: " + frontends::describeFormats())
      ->type_name(typeOfModels())
      ->required();
  addRepeatedOption(
      app, "--shape", "INPUT=1..8x3x48x320",
      [&options] {
        options.shapes.clear();
        options.otherShapes.clear();
        options.ranges.clear();
      },
      [&options](const std::string &argument) {
        return parseShape(argument, options);
      },
      "Shape of an input whose dimensions the model leaves open; 1..8, or "
      "32..640:32 with a step, is a dimension that is chosen at each run. "
      "Given again for an input, its shape in a second function of the "
      "module. "
      "Shapes "
      "that the model declares for outputs and values in between are errors "
      "where they contradict the computed ones, but warnings with a --shape "
      "that binds open dimensions: they may be left from other sizes");
  app.add_option("--external-data", options.externalData,
                 "Folder that may hold the model's external data, beside the "
                 "model's own; links that lead out of both are refused")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  addLimitOption(app, options);
  using frontends::TfliteRounding;
  static const std::vector<std::pair<std::string, TfliteRounding>> roundings = {
      {"double", TfliteRounding::twice},
      {"single", TfliteRounding::once},
      {"litert", TfliteRounding::litert}};
  addChoice(app, "--tflite-rounding", options.tfliteRounding, roundings,
            "How fixed-point products of quantized TFLite models round: twice, "
            "as by TFLite Micro and CMSIS-NN (double), once, as by newer "
            "kernels of TFLite (single), or as by the reference kernels of "
            "LiteRT's Python package (litert)")
      ->default_str("double");
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

void addLimit(CLI::App &app, const char *name, std::optional<int64_t> &limit,
              const char *help) {
  app.add_option_function<std::string>(
         name,
         [&limit](const std::string &given) { limit = parseBytes(given); },
         help)
      ->check([](const std::string &given) -> std::string {
        return parseBytes(given) ? ""
                                 : given + " is no number of bytes such as "
                                           "65536, 64K or 1M";
      })
      ->type_name("BYTES");
}

/// Parses NAME:BYTES[:slow][:weights] into `memory`. Returns what is wrong with
/// the text, or an empty string.
static std::string parseMemory(llvm::StringRef text, MemoryChoice &memory) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  std::optional<int64_t> bytes;
  if (parts.size() > 1)
    bytes = parseBytes(parts[1]);
  if (!bytes)
    return text.str() + " is not NAME:BYTES[:slow][:weights], with K or M for "
                        "1024 bytes or 1024 times that";
  memory = {parts[0].str(), *bytes};
  for (llvm::StringRef kind : llvm::ArrayRef(parts).drop_front(2))
    if (kind == "slow")
      memory.slow = true;
    else if (kind == "weights")
      memory.holdsWeights = true;
    else
      return fmt::format("{}: a memory is 'slow', for 'weights', or both, not "
                         "'{}'{}",
                         text.str(), kind.str(),
                         frontends::didYouMean(kind, {"slow", "weights"}));
  if (exec::isUsableIdentifier(memory.name))
    return "";
  std::string lower = parts[0].lower();
  return fmt::format("{}: '{}' is no name that C code can have{}", text.str(),
                     memory.name,
                     exec::isUsableIdentifier(lower) ? "; try " + lower : "");
}

/// Adds a memory that a text describes. Returns what is wrong with it, or an
/// empty string.
static std::string addMemory(const std::string &text, ModelOptions &options) {
  MemoryChoice memory;
  std::string problem = parseMemory(text, memory);
  auto isSame = [&](const MemoryChoice &other) {
    return other.name == memory.name;
  };
  if (problem.empty() && llvm::any_of(options.memories, isSame))
    problem = "there are two memories '" + memory.name + "'";
  options.memories.push_back(memory);
  return problem;
}

static void addPoolOption(CLI::App &app, ModelOptions &options) {
  addRepeatedOption(
      app, "--pool", "NAME:BYTES[:slow][:weights]",
      [&options] { options.memories.clear(); },
      [&options](const std::string &argument) {
        return addMemory(argument, options);
      },
      "Memory for a part of the arena, and how many bytes of it the code "
      "may take; given once for each memory. The code gets a pointer to "
      "each. Those that are not slow hold what is read and written most "
      "often. One for weights holds a part of these, in a section of its "
      "name");
}

void addRamOption(CLI::App &app, ModelOptions &options) {
  addPoolOption(app, options);
  addLimit(app, "--max-ram", options.maxRam,
           "Most bytes of RAM, with K or M for 1024 of them or of these: of "
           "the arena, the inputs, the outputs and the state. nnc check, which "
           "builds the code, counts the stack, too. Where the model takes "
           "more, images of some layers are computed in strips, whose rows at "
           "the edges are computed twice");
}

void addFlashOption(CLI::App &app, std::optional<int64_t> &maxFlash) {
  addLimit(app, "--max-flash", maxFlash,
           "Most bytes of flash memory, with K or M: of code, constants and "
           "weights. The code is built for its size, and weights take the "
           "bytes that it leaves where they would take more");
}

static void addValueOption(CLI::App &app, ModelOptions &options) {
  addRepeatedOption(
      app, "--value", "INPUT=1,2,3|FILE.npy",
      [&options] { options.values.clear(); },
      [&options](const std::string &argument) {
        return parseValue(argument, options);
      },
      "What an input holds, which becomes a constant of the code: numbers, "
      "row by row, or a file. The code does not take that input any more");
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
  static const std::vector<std::pair<std::string, bool>> owners = {
      {"caller", false}, {"arena", true}};
  addChoice(app, "--io", options.portsInArena, owners,
            "Where inputs and outputs lie: in memory of the caller's, which is "
            "read and written in place (caller, unless given), or in the "
            "arena, where other values take the place of inputs that are not "
            "needed any more");
  static const std::vector<std::pair<std::string, std::string>> places = {
      {"embed", "embed"}, {"array", "array"}, {"file", "file"}};
  addChoice(
      app, "--weights", options.weights, places,
      "Where the weights go: into the object file by the assembler's "
      ".incbin (embed), as a C array, or a file that the caller maps; "
      "embed unless given, array for targets without an operating system and "
      "with --package");
  app.add_option(
         "--max-error", options.maxError,
         "Most that methods which compute less (Winograd's, Strassen's) "
         "may add to the outputs by rounding, estimated, root mean "
         "square, relative; 0 for none of them")
      ->type_name("E")
      ->check([](const std::string &given) -> std::string {
        double value;
        bool isNumber = llvm::to_float(given, value) && value >= 0;
        return isNumber ? "" : given + " is no number from 0 on";
      })
      ->capture_default_str();
  app.add_option("--weight-bits", options.weightBits,
                 "Least bits that weights of dense layers of a few rows may "
                 "be stored in; with 24 they take less time to read, and each "
                 "is off by up to 2^-24 of the largest of 512, however small "
                 "it is itself")
      ->type_name("32|24")
      ->check([](const std::string &given) -> std::string {
        return given == "32" || given == "24"
                   ? ""
                   : given + " is not 24, the one number of bits that weights "
                             "can be reduced to; 32 keeps the model's floats";
      })
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
  for (Precision each : {Precision::f32, Precision::f16, Precision::i8})
    precisions.emplace_back(getName(each).str(), each);
  addChoice(app, "--precision", options.precision, precisions,
            "What layers of floats compute with and store: floats, halves "
            "where the target has arithmetic on them, or 8-bit integers, whose "
            "ranges --calibrate finds; inputs and outputs stay floats")
      ->default_str("f32");
  app.add_option("--calibrate", options.quantization.samples,
                 "Samples of the inputs for --precision=i8, as "
                 "--calibration of nnc quantize takes them")
      ->type_name("DIR|FILE.npz");
  options.quantization.search = searchModule;
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

void allowFolder(CLI::App &app, const ModelOptions &options) {
  app.get_option("MODEL")
      ->description("The model: " + frontends::describeFormats() +
                    ", or a folder that nnc compile wrote")
      ->type_name(typeOfModels() + "|DIR");
  app.parse_complete_callback([&app, &options] {
    if (!llvm::sys::fs::is_directory(options.model))
      return;
    for (const char *name :
         {"--target",    "--name",          "--shape",
          "--value",     "--external-data", "--tflite-rounding",
          "--custom",    "--stream",        "--io",
          "--max-ram",   "--batch",         "--weights",
          "--max-error", "--weight-bits",   "--layouts",
          "--precision", "--calibrate",     "--max-drop",
          "--optimize",  "--tuning",        "--probe"})
      if (CLI::Option *option = app.get_option_no_throw(name);
          option && option->count())
        throw CLI::ValidationError(
            name, options.model + " is compiled already; give the model");
  });
}

static std::optional<int> parseThreads(llvm::StringRef text) {
  int count;
  if (!llvm::to_integer(text, count, 10) || count < 1 || count > 256)
    return std::nullopt;
  return count;
}

void addThreadsOption(CLI::App &app, ModelOptions &options) {
  app.add_option_function<std::string>(
         "--threads",
         [&options](const std::string &value) {
           if (value == "on")
             options.threads = ModelOptions::anyThreads;
           else
             options.runOn(parseThreads(value).value_or(1));
         },
         "Whether the code can run on several threads; with a number, on so "
         "many, and its arena has no room for more")
      ->check([](const std::string &value) -> std::string {
        if (value == "on" || value == "off" || parseThreads(value))
          return "";
        return value + " is not on, off or a number from 1 to 256";
      })
      ->type_name("on|off|N")
      ->default_str("off");
}

void addThreadCountOption(CLI::App &app, int &threads) {
  app.add_option("--threads", threads, "Number of threads to run on")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void addCompilerOption(CLI::App &app, std::string &compiler) {
  app.add_option("--compiler", compiler,
                 "C++ compiler to build with, and flags for it if there are "
                 "spaces; the target's unless given (for this machine $CXX, "
                 "else c++). Modules are built at -O3 unless a flag says "
                 "otherwise")
      ->type_name("CXX");
}

void addPlaceOption(CLI::App &app, std::string &on) {
  app.add_option("--on", on,
                 "Another machine to measure on: one that ssh reaches, or a "
                 "command that is given a program and its arguments")
      ->type_name("ssh:HOST|COMMAND");
}

void addJsonOption(CLI::App &app, bool &json) {
  app.add_flag("--json", json, "Print the result as JSON");
}

void addMannerOptions(CLI::App &app, Manner &manner) {
  const char *group = "Printing";
  app.add_flag("-q,--quiet", manner.quiet,
               "Print errors alone, and what is asked for: no warnings, and no "
               "summary of what the command has done")
      ->group(group);
  app.add_flag("-v,--verbose", manner.verbose,
               "Print on stderr, too, how long each step takes and what it "
               "makes")
      ->group(group);
  static const std::vector<std::pair<std::string, Manner::Colours>> choices = {
      {"auto", Manner::automatic},
      {"always", Manner::always},
      {"never", Manner::never}};
  addChoice(app, "--color", manner.colours, choices,
            "Whether what is printed has colours: on a terminal, unless "
            "NO_COLOR is set (auto), always or never")
      ->default_str("auto")
      ->group(group);
}

static bool jsonPrinted = false;

void printJson(llvm::json::Value value, ExitCode code) {
  if (llvm::json::Object *object = value.getAsObject()) {
    object->try_emplace("ok", code == ExitCode::done);
    object->try_emplace("exit_code", int(code));
    object->try_emplace("problems", problemsToJson());
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", value);
  writeOut(text + "\n");
  jsonPrinted = true;
}

bool isJsonPrinted() { return jsonPrinted; }

/// Returns why this machine cannot run the measurements, or an empty string if
/// it can.
static std::string findOwnObstacle(target::MachineAttr machine,
                                   const Toolchain &toolchain) {
  std::vector<std::string> needs;
  for (auto one :
       machine.getHost().getFeatures().getAsValueRange<mlir::StringAttr>())
    needs.push_back(one.str());
  if (toolchain.emulator.empty())
    return findObstacle(needs, toolchain);
  return fmt::format("code for {} runs in an emulator here, whose times say "
                     "nothing of a real machine; give --on=ssh:HOST",
                     toolchain.target);
}

ExitCode Workbench::findTools(target::MachineAttr machine,
                              Toolchain &toolchain) const {
  llvm::Expected<Toolchain> found = Toolchain::find(target, compiler);
  if (!found)
    return fail(found.takeError(), ExitCode::usage);
  toolchain = std::move(*found);
  if (toolchain.isBare()) {
    return fail(makeError(target + " has no operating system, under which "
                                   "programs that measure run"),
                ExitCode::unsupported);
  } else if (on.empty()) {
    if (std::string obstacle = findOwnObstacle(machine, toolchain);
        !obstacle.empty())
      return fail(makeError(obstacle), ExitCode::unsupported);
  } else if (target == "native") {
    return fail(makeError("--on needs the --target that the other machine is"),
                ExitCode::usage);
  } else {
    toolchain.runOn(on);
  }
  if (llvm::Error error =
          findProgram(splitCommand(toolchain.compiler).front()).takeError())
    return fail(std::move(error), ExitCode::usage);
  return ExitCode::done;
}

std::string Workbench::describeChip(target::MachineAttr machine) const {
  if (!on.empty())
    return on;
  return machine.getChip().empty() ? llvm::sys::getHostCPUName().str()
                                   : machine.getChip().str();
}

} // namespace nnc::tools
