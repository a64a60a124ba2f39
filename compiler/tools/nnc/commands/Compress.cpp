//===- Compress.cpp - nnc compress ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/compress/Report.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>

namespace nnc::tools {

/// Parses a pattern such as "2:4".
static std::optional<compression::Pattern> parsePattern(llvm::StringRef text) {
  compression::Pattern pattern;
  auto [kept, group] = text.split(':');
  if (!llvm::to_integer(kept, pattern.kept, 10) ||
      !llvm::to_integer(group, pattern.group, 10) || pattern.kept < 1 ||
      pattern.group <= pattern.kept)
    return std::nullopt;
  return pattern;
}

namespace {

class Compress : public Command {
public:
  void addOptions(CLI::App &app) override;
  ExitCode run() override;

private:
  ExitCode checkSettings() const;
  ExitCode compress();

  CompressSettings settings;
  std::string sparsity, pattern, maxDrop, method;
  std::vector<std::string> exclude;
  bool json = false;
};

} // namespace

void Compress::addOptions(CLI::App &app) {
  addEditedModelOptions(app, settings.model);
  app.add_option("-o,--output", settings.output,
                 "The compressed model: of an ONNX model an ONNX file with the "
                 "same types; of any model a module of nnc's own, as text or "
                 "as bytecode, which nnc reads as a model")
      ->type_name("FILE.onnx|FILE.mlir|FILE.mlirbc")
      ->required();
  addShareOption(app, "--sparsity", sparsity, "0.9",
                 "Share of the weights of each layer that become zero, those "
                 "of least magnitude");
  app.add_option("--pattern", pattern,
                 "Keep the 2 largest of each 4 weights that an output channel "
                 "multiplies neighbouring input channels by, at each place of "
                 "a kernel; 2 also of the last ones if these are fewer than 4")
      ->type_name("2:4")
      ->check([](const std::string &given) -> std::string {
        return parsePattern(given) ? ""
                                   : given + " is no pattern such as 2:4: how "
                                             "many weights of how many stay";
      });
  app.add_option("--clusters", settings.options.clusters,
                 "Let the weights of a layer share at most this many values, "
                 "of which zero is one")
      ->type_name("N")
      ->check(CLI::Range(2, int(stored::kMostValues)));
  app.add_option("--block", settings.options.block,
                 "Give each N output channels values of their own; with "
                 "--clusters")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  addWords(app, "--method", method, {"second-order", "magnitude"},
           "How weights are chosen: by how little they change the results of "
           "their layers on the samples of --calibration, with the weights "
           "that are left making up for the others, which is done unless "
           "given; or by their magnitudes alone");
  addExcludeOption(app, exclude, "A node whose weights stay as they are");
  addCalibrationOption(app, settings.calibration);
  addShareOption(
      app, "--max-drop", maxDrop, "0.5%",
      "Give the most sensitive layers 256 clusters, or leave their weights as "
      "they are, until the metric drops by no more than this. The metric is "
      "the agreement of argmax of the first output with the original model if "
      "that looks like scores of classes, else its relative L2 error");
  addMetricOption(app, settings.metric);
  addThreadCountOption(app, settings.threads);
  addCompilerOption(app, settings.compiler);
  addJsonOption(app, json);
}

/// Reports problems that are visible only from several options together.
ExitCode Compress::checkSettings() const {
  ExitCode code = ExitCode::done;
  auto complain = [&](const std::string &problem) {
    code = fail(makeError(problem), ExitCode::usage);
  };
  const compression::Options &options = settings.options;
  if (!options.sparsity && !options.pattern && !options.clusters)
    complain(
        "there is nothing to do; give --sparsity, --pattern or --clusters");
  if (options.sparsity == 1)
    complain("--sparsity: with all weights zero the model computes nothing; "
             "give a share below 100%");
  if (options.sparsity && options.pattern)
    complain("--sparsity and --pattern both say which weights become zero; "
             "give one of them");
  if (options.block && !options.clusters)
    complain("--block needs --clusters");
  if (method == "second-order" && settings.calibration.empty())
    complain("--method=second-order needs --calibration");
  if (settings.maxDrop && !settings.canEvaluate())
    complain("--max-drop needs --calibration or --metric");
  ExitCode files = checkFiles("compress", settings.model, settings.calibration,
                              settings.output);
  return code == ExitCode::done ? files : code;
}

ExitCode Compress::run() {
  if (!sparsity.empty())
    settings.options.sparsity = parseShare(sparsity);
  if (!pattern.empty())
    settings.options.pattern = parsePattern(pattern);
  if (!maxDrop.empty())
    settings.maxDrop = parseShare(maxDrop);
  settings.options.isSecondOrder =
      !settings.calibration.empty() && method != "magnitude";
  settings.options.exclude.insert(exclude.begin(), exclude.end());
  if (ExitCode code = checkSettings(); code != ExitCode::done)
    return code;
  return compress();
}

/// Warns about a layer that computes nothing because all of its weights are
/// zero.
static void warnOfZeros(const compression::WeightSummary &weight,
                        const compression::CompressedSizes &size) {
  if (size.stored.zeros != size.stored.elements || !(size.error > 0))
    return;
  std::string node = displayText(weight.nodes.front());
  printWarning(fmt::format("weights '{}' of node '{}' ({}) all become zero; "
                           "give a lower --sparsity, or leave the node out "
                           "with --exclude={}",
                           displayText(weight.name), node, weight.op, node));
}

ExitCode Compress::compress() {
  auto start = std::chrono::steady_clock::now();
  CompressSession session(settings);
  if (ExitCode code = session.open(); code != ExitCode::done)
    return code;
  session.compress();
  CompressResult result;
  if (settings.canEvaluate()) {
    result.evaluated = 1;
    if (llvm::failed(session.evaluate(result.evaluation)))
      return session.getFailure();
  }
  if (settings.maxDrop)
    if (llvm::failed(compression::limitDrop(
            session, *settings.maxDrop, result.evaluation, result.evaluated)))
      return session.getFailure();
  compression::Compressor &compressor = session.getCompressor();
  llvm::Expected<std::string> text =
      compressor.printCompressed(settings.output);
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  bool isCompressed = false, isChanged = false;
  for (size_t i = 0; i < compressor.getWeights().size(); ++i) {
    const compression::WeightSummary &weight = compressor.getWeights()[i];
    Progress progress(fmt::format("counting bytes of {}", weight.name));
    result.sizes.push_back(compressor.measure(i));
    isCompressed |= weight.treatment != compression::Treatment::none;
    isChanged |= result.sizes.back().error > 0;
    warnOfZeros(weight, result.sizes.back());
  }
  if (llvm::Error error = replaceTextFile(settings.output, *text))
    return fail(std::move(error), ExitCode::usage);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (!isCompressed)
    printWarning("all weights stay as they were: the drop is not allowed "
                 "otherwise");
  else if (!isChanged)
    printWarning(settings.maxDrop
                     ? "all weights stay as they were: with fewer values or "
                       "more zeros the drop is not allowed"
                     : "all weights stay as they were: they have no more "
                       "values and as many zeros as they are to have");
  if (json)
    printJson(toJson(CompressedModel::get(session), result));
  else
    printReport(CompressedModel::get(session), result);
  return ExitCode::done;
}

std::unique_ptr<Command> makeCompress() { return std::make_unique<Compress>(); }

} // namespace nnc::tools
