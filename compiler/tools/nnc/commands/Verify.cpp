//===- Verify.cpp - nnc verify --------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/execute/Reference.h"
#include "compiler/tools/driver/samples/TestData.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Measuring.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "compiler/sizes/SizeRange.h"
#include "dialects/qnn/Qnn.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// The number of consecutive runs in a random case for a model with state.
constexpr int64_t kSteps = 4;

class Verify : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    CLI::Option *data =
        app.add_option("--data", dataFolder,
                       "Folder with the data: ONNX's test_data_set_N with .pb "
                       "files, or .npy files called by the names of inputs and "
                       "outputs; without outputs nnc's own reference says what "
                       "they should be")
            ->type_name("DIR");
    app.add_option("--random", randomCases,
                   "Sets of random inputs to compare on with nnc's reference")
        ->type_name("K")
        ->check(CLI::Range(1, 1000000))
        ->excludes(data)
        ->capture_default_str();
    app.add_option(
           "--tolerance", givenTolerance,
           "Error that floats may have, as a share of the largest "
           "expected element; all else must be equal; 1e-4 unless "
           "given, 2e-2 with --precision=f16, 1e-2 with tf32, 1e-1 with "
           "bf16, a unit in the last "
           "place for outputs of 16 bits, 5e-2 for quantized "
           "models. Where these round floats, to 8 bits or, with 1e-3, "
           "to 16, the error holds for integers of 8 and 16 bits, too, "
           "as a share of their range, and the root mean square of all "
           "errors may be a fifth of it; a unit is always allowed. Unless "
           "it is given, quantized models may differ from the reference "
           "by what inputs that differ by 1e-5 change in it, twice")
        ->type_name("E")
        ->check(numberFrom(0, 1));
    addThreadCountOption(app, threads);
    addCompilerOption(app, compiler);
    addEmulateOption(app, emulate);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    if (isCompiledFolder(options.model))
      return fail(makeError(options.model + " is a folder; give the model that "
                                            "it was compiled from"),
                  ExitCode::usage);
    DriverOptions wanted;
    wanted.keepStages = wanted.takesRanges = wanted.takesSeveral = true;
    // Data have one size.
    wanted.takesBounds = dataFolder.empty();
    if (!options.ranges.empty() && !dataFolder.empty())
      return fail(makeError("--data has inputs of one size; give it with "
                            "--shape, without '..'"),
                  ExitCode::usage);
    options.runOn(threads);
    if (ExitCode code = prepared.open(options, wanted); code != ExitCode::done)
      return code;
    isQuantized = qnn::hasQuantizedOps(prepared.driver->imported());
    tolerance = chooseTolerance(prepared.manifest, prepared.driver->imported(),
                                options.precision, givenTolerance);
    std::vector<Manifest> functions = prepared.manifest.split();
    if (functions.size() > 1 && !dataFolder.empty())
      return fail(makeError("--data has inputs of one size; give it with one "
                            "--shape for each input"),
                  ExitCode::usage);
    for (function = 0; function < functions.size(); ++function) {
      prepared.manifest = functions[function];
      llvm::Expected<std::vector<TestCase>> cases = readCases();
      if (!cases)
        return fail(cases.takeError(), ExitCode::usage);
      if (ExitCode code = prepared.build(compiler, threads,
                                         emulate ? Prepared::Gpu::emulated
                                                 : Prepared::Gpu::own);
          code != ExitCode::done)
        return code;
      if (!json)
        printSizes();
      for (TestCase &one : *cases)
        if (llvm::Error error = verify(one))
          return fail(std::move(error), ExitCode::ownFault);
    }
    if (json)
      printJson(json::Object{{"target", prepared.manifest.target},
                             {"tolerance", tolerance.largest},
                             {"cases", std::move(results)}},
                differs ? ExitCode::differs : ExitCode::done);
    return differs ? ExitCode::differs : ExitCode::done;
  }

private:
  llvm::Expected<std::vector<TestCase>> readCases() const {
    if (!dataFolder.empty())
      return readTestData(dataFolder, prepared.manifest);
    if (!prepared.manifest.sizes.empty())
      return makeSizedCases();
    std::vector<TestCase> cases(randomCases);
    for (int i = 0; i < randomCases; ++i) {
      cases[i].name = fmt::format("random {}", i);
      if (function)
        cases[i].name += " of " + prepared.manifest.name;
      // State affects only the runs after the first. The results of custom
      // operators are known only for the first run.
      bool isOne = prepared.manifest.state.empty() ||
                   hasCustomOps(prepared.driver->importedFor(function));
      cases[i].steps = isOne ? 1 : kSteps;
      for (size_t port = 0; port < prepared.manifest.inputs.size(); ++port) {
        std::vector<int64_t> shape = prepared.manifest.inputs[port].shape;
        if (cases[i].steps > 1)
          shape.insert(shape.begin(), cases[i].steps);
        cases[i].inputs.push_back(randomTensor(
            prepared.manifest.inputs[port].dtype, shape, i * 1000 + port));
      }
    }
    return cases;
  }

  /// Makes random cases with the smallest sizes, the largest sizes, and some in
  /// between.
  std::vector<TestCase> makeSizedCases() const {
    constexpr size_t kOthers = 4;
    const Manifest &manifest = prepared.manifest;
    std::vector<SizeRange> ranges;
    for (const SizeInfo &size : manifest.callersSizes())
      ranges.push_back({size.name, size.low, size.high, size.step});
    std::vector<SizePoint> points = chooseChecks(ranges, 64), chosen;
    size_t stride = std::max<size_t>(1, points.size() / (kOthers + 1));
    for (size_t i = 0; i + 1 < points.size() && chosen.size() <= kOthers;
         i += stride)
      chosen.push_back(points[i]);
    chosen.push_back(points.back());
    std::vector<TestCase> cases;
    for (int i = 0; i < randomCases; ++i)
      for (const SizePoint &point : chosen) {
        TestCase &one = cases.emplace_back();
        std::vector<std::string> words;
        for (auto [size, value] : llvm::zip(manifest.callersSizes(), point))
          words.push_back(fmt::format("{}={}", size.name, value));
        one.name = fmt::format("random {}", i);
        if (!words.empty())
          one.name += fmt::format(" at {}", fmt::join(words, " "));
        one.sizes.assign(point.begin(), point.end());
        std::vector<Port> inputs = manifest.atSizes(point).inputs;
        for (size_t port = 0; port < inputs.size(); ++port)
          one.inputs.push_back(randomTensor(
              inputs[port].dtype, inputs[port].shape, i * 1000 + port));
      }
    return cases;
  }

  /// Computes the outputs of a case on the model that is imported at its sizes.
  /// Sizes that depend on data are found one after the other.
  llvm::Error evaluateAtSizes(TestCase &one) const {
    ModelOptions own = options;
    own.ranges.clear();
    const Manifest manifest = prepared.manifest.atSizes(one.sizes);
    for (const Port &input : manifest.inputs)
      own.shapes[input.name] = input.shape;
    llvm::ArrayRef<SizeInfo> sizes =
        llvm::ArrayRef(manifest.sizes)
            .drop_front(manifest.callersSizes().size());
    std::vector<int64_t> found;
    while (true) {
      own.foundSizes = found;
      Driver driver(own);
      if (driver.import() != ExitCode::done)
        return makeError("the model cannot be imported for " + one.name);
      if (found.empty())
        own.expectedSizes = driver.getFoundSizes();
      Progress progress("evaluating the reference");
      llvm::Expected<std::vector<Tensor>> expected =
          evaluateReference(driver.module(), one.inputs);
      if (!expected)
        return expected.takeError();
      one.outputs = std::move(*expected);
      if (found.size() == sizes.size())
        break;
      // The last outputs tell the sizes that were found.
      int32_t value;
      const Tensor &count =
          one.outputs[one.outputs.size() - sizes.size() + found.size()];
      std::memcpy(&value, count.data.data(), sizeof value);
      found.push_back(value);
    }
    std::vector<Tensor> counts(one.outputs.end() - sizes.size(),
                               one.outputs.end());
    one.outputs.resize(one.outputs.size() - sizes.size());
    for (const Port &port : manifest.outputs)
      for (size_t i = 0; i < sizes.size(); ++i)
        if (port.size == sizes[i].name)
          one.outputs.push_back(counts[i]);
    return llvm::Error::success();
  }

  llvm::Error verify(TestCase &one) {
    const bool byReference = one.outputs.empty();
    if (!prepared.manifest.sizes.empty() && byReference)
      if (llvm::Error error = evaluateAtSizes(one))
        return error;
    llvm::Expected<CustomResults> customs = CustomResults();
    if (one.outputs.empty()) {
      customs = findCustomResults(one);
      if (!customs)
        return customs.takeError();
      Progress progress("evaluating the reference");
      llvm::Expected<std::vector<Tensor>> expected =
          evaluateReference(prepared.driver->importedFor(function), one.inputs,
                            one.steps, *customs);
      if (!expected)
        return expected.takeError();
      one.outputs = std::move(*expected);
    }
    RunRequest request;
    request.threads = threads;
    request.inputs = one.inputs;
    request.steps = one.steps;
    request.sizes = one.sizes;
    llvm::Expected<RunResult> result = prepared.module->run(request);
    if (!result)
      return result.takeError();

    std::vector<Difference> found;
    bool same = true, equal = true;
    for (auto [actual, expected] : llvm::zip(result->outputs, one.outputs)) {
      found.push_back(compare(actual, expected, tolerance));
      same = same && found.back().within;
      equal = equal && found.back().differing == 0;
    }
    // Integers that differ by one unit are within the tolerance, but it is
    // worth knowing in which layer the difference begins.
    std::string layers, sensitivity;
    if (prepared.manifest.sizes.empty() && (!same || (isQuantized && !equal))) {
      llvm::Expected<std::optional<std::string>> layer = findLayer(one);
      if (!layer)
        return layer.takeError();
      layers = layer->value_or(
          "every layer agrees with its reference: the difference comes from "
          "rounding in passes before the layers were formed, if it is small; "
          "else the results given come from another model, or a pass is wrong");
      if (!same && !*layer && byReference && tolerance.ofIntegers &&
          !givenTolerance) {
        llvm::Expected<std::string> sentence =
            judgeSensitivity(one, *customs, found);
        if (!sentence)
          return sentence.takeError();
        sensitivity = std::move(*sentence);
      }
    }

    json::Array outputs;
    for (auto [i, difference] : llvm::enumerate(found)) {
      const Port &port = prepared.manifest.outputs[i];
      outputs.push_back(tools::toJson(port, difference));
      if (!json)
        print(one, port, difference);
      differs = differs || !difference.within;
    }
    json::Object object{{"name", one.name}, {"outputs", std::move(outputs)}};
    auto add = [&](llvm::StringRef key, const std::string &sentence) {
      if (sentence.empty())
        return;
      object[key] = sentence;
      if (!json)
        printOut("  {}\n", sentence);
    };
    add("first_layer", layers);
    add("sensitivity", sensitivity);
    results.push_back(std::move(object));
    return llvm::Error::success();
  }

  /// Evaluates the reference once more with inputs that differ by 1e-5,
  /// and counts the outputs in `found` as the same that are at most twice as
  /// far from the reference as the outputs for these inputs: rounding to
  /// integers amplifies any difference so much in this model. Returns a
  /// sentence that says so, or nothing if no output counts as the same.
  llvm::Expected<std::string> judgeSensitivity(const TestCase &one,
                                               const CustomResults &customs,
                                               std::vector<Difference> &found) {
    Progress progress("evaluating how sensitive the model is");
    llvm::Expected<std::vector<Tensor>> nearby =
        evaluateReference(prepared.driver->importedFor(function),
                          changeSlightly(one.inputs), one.steps, customs);
    if (!nearby)
      return nearby.takeError();
    double largest = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      Difference own = compare((*nearby)[i], one.outputs[i], tolerance);
      if (found[i].within || found[i].largest > 2 * own.largest ||
          found[i].meanSquare > 4 * own.meanSquare)
        continue;
      found[i].within = true;
      largest = std::max(largest, own.relative());
    }
    if (largest == 0)
      return std::string();
    return fmt::format("the model is that sensitive: inputs that differ by "
                       "1e-5 change its outputs by {:.3g} of the largest "
                       "element in the reference, too",
                       largest);
  }

  /// Returns the results of custom functions in this case. The reference cannot
  /// call these functions, so it takes their results from the program.
  llvm::Expected<CustomResults> findCustomResults(const TestCase &one) {
    if (!hasCustomOps(prepared.driver->importedFor(function)))
      return CustomResults();
    RunRequest request;
    request.threads = threads;
    request.inputs = one.inputs;
    request.keepLayers = true;
    llvm::Expected<RunResult> result = prepared.module->run(request);
    if (!result)
      return result.takeError();
    return readCustomResults(prepared.manifest, result->layersFile);
  }

  /// Runs the case once more, or only its first run if it has several, and
  /// compares the output of every layer with that of its reference. Returns a
  /// sentence about the first layer that differs, or nullopt if there is none.
  llvm::Expected<std::optional<std::string>> findLayer(const TestCase &one) {
    RunRequest request;
    request.threads = threads;
    request.inputs = one.inputs;
    for (auto [input, port] :
         llvm::zip(request.inputs, prepared.manifest.inputs))
      input = {port.dtype,
               port.shape,
               {input.data.begin(), input.data.begin() + port.bytes()}};
    request.keepLayers = true;
    llvm::Expected<RunResult> result = prepared.module->run(request);
    if (!result)
      return result.takeError();
    Progress progress("comparing layers");
    return findFirstDifference(prepared.driver->layeredFor(function),
                               request.inputs, prepared.manifest,
                               result->layersFile, tolerance);
  }

  /// Prints which dimension of which input each size is that the caller
  /// chooses: its name may be one that an exporter made, such as s77.
  void printSizes() const {
    for (const SizeInfo &size : prepared.manifest.callersSizes())
      for (const Port &input : prepared.manifest.inputs) {
        auto dim = llvm::find(input.dims, size.name);
        if (dim == input.dims.end())
          continue;
        printOut("{} is axis {} of '{}'\n", size.name, dim - input.dims.begin(),
                 displayText(input.name));
        break;
      }
  }

  void print(const TestCase &one, const Port &port,
             const Difference &found) const {
    std::string verdict = found.within
                              ? colouredForStdout(Colour::green, "same")
                              : colouredForStdout(Colour::red, "DIFFERS");
    printOut("{}: {}: {}: largest error {:.3g}, {:.3g} of the largest "
             "element; {} of {} elements differ{}\n",
             one.name, displayText(port.name), verdict, found.largest,
             found.relative(), found.differing, found.elements,
             tolerance.ofIntegers && found.differing
                 ? fmt::format(", root mean square {:.3g}",
                               std::sqrt(found.meanSquare))
                 : "");
    size_t number = &port - prepared.manifest.outputs.data();
    const std::vector<int64_t> &shape = one.outputs[number].shape;
    if (!found.within && found.at < 0)
      printOut("  of another shape than {}\n", shapeText(shape));
    else if (!found.within)
      printOut("  at {}: {:.9g} instead of {:.9g}\n",
               indexText(found.at, shape), found.actual, found.expected);
  }

  ModelOptions options;
  std::string dataFolder, compiler;
  int randomCases = 1, threads = 1;
  std::optional<double> givenTolerance;
  Tolerance tolerance{0};
  bool json = false, isQuantized = false, emulate = false;

  Prepared prepared;
  json::Array results;
  size_t function = 0; ///< index of the verified function of the module
  bool differs = false;
};

} // namespace

std::unique_ptr<Command> makeVerify() { return std::make_unique<Verify>(); }

} // namespace nnc::tools
