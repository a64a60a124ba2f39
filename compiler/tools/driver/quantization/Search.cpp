//===- Search.cpp - Which layers of a quantized model stay float ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/quantization/Evaluation.h"
#include "compiler/tools/driver/system/Files.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Returns the reason why a layer stays float, in the words of reports.
static std::string describe(const precision::FloatReason &reason,
                            const std::string &target) {
  using precision::FloatReason;
  switch (reason.kind) {
  case FloatReason::accuracy:
    return fmt::format(
        "kept for accuracy, number {} by sensitivity{}: it adds noise of "
        "{:.2g} of the signal{}, and its output had {}",
        reason.place,
        reason.savedSeconds ? " for the time that integers save" : "",
        reason.noise,
        reason.savedSeconds ? fmt::format(", integers are estimated to save {}",
                                          formatSeconds(*reason.savedSeconds))
                            : std::string(),
        reason.decibels ? fmt::format("{:.1f} dB", *reason.decibels)
                        : std::string("no noise"));
  case FloatReason::speed:
    return fmt::format("kept for speed: on target {} floats are estimated "
                       "to take {}, integers {}",
                       target, formatSeconds(reason.floatSeconds),
                       formatSeconds(reason.integerSeconds));
  case FloatReason::fasterModel:
    return fmt::format("kept for speed: on target {} the float model is "
                       "estimated to be faster",
                       target);
  case FloatReason::estimate:
    return "kept to estimate the float model";
  }
  llvm_unreachable("unknown reason");
}

namespace {

/// The layers of a model that the driver has compiled for the target.
struct FormedByDriver : precision::FormedModel {
  std::unique_ptr<Driver> driver;
};

/// A model that is quantized and run during a search by precision::limitDrop.
class SearchedRuns : public precision::SearchedModel {
public:
  explicit SearchedRuns(RunnableModel &model) : model(model) {}

  std::vector<precision::SearchedLayer> listLayers() const override {
    return model.listLayers();
  }
  llvm::LogicalResult
  keepFloats(const std::map<int, precision::FloatReason> &layers) override;
  llvm::LogicalResult evaluate(Compared compared,
                               Evaluation &evaluation) override {
    return note(tools::evaluate(model, compared, evaluation));
  }
  std::unique_ptr<precision::FormedModel>
  form(const std::string &name) override;
  std::unique_ptr<accuracy::SearchProgress> showSearch() override {
    return tools::showSearch();
  }

  /// Returns the exit code of a failed search: that of the function above that
  /// has failed, or ExitCode::unsupported if the model could not be planned.
  ExitCode getFailure() const {
    return failure == ExitCode::done ? ExitCode::unsupported : failure;
  }

private:
  llvm::LogicalResult note(ExitCode code) {
    failure = code;
    return llvm::success(code == ExitCode::done);
  }
  ExitCode compile(const std::string &name, std::unique_ptr<Driver> &driver);

  RunnableModel &model;
  ExitCode failure = ExitCode::done;
};

} // namespace

llvm::LogicalResult
SearchedRuns::keepFloats(const std::map<int, precision::FloatReason> &layers) {
  std::map<int, std::string> reasons;
  for (const auto &[number, reason] : layers)
    reasons[number] = describe(reason, model.getSettings().model.target);
  return note(model.keepFloats(reasons));
}

/// Compiles the model in its present state for the target.
ExitCode SearchedRuns::compile(const std::string &name,
                               std::unique_ptr<Driver> &driver) {
  llvm::Expected<std::string> text = model.print();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return fail(folder.takeError(), ExitCode::ownFault);
  const ModelOptions &options = model.getSettings().model;
  ModelOptions own;
  own.model = (*folder)->path() + "/" + name;
  own.shapes = options.shapes;
  own.target = options.target;
  own.probe = options.probe;
  own.optimize = options.optimize;
  own.maxError = options.maxError;
  own.boundRounding = options.boundRounding;
  own.layouts = options.layouts;
  own.name = name;
  own.threads = options.threads;
  own.runThreads = options.runThreads;
  if (llvm::Error error = writeTextFile(own.model, *text))
    return fail(std::move(error), ExitCode::ownFault);
  driver = std::make_unique<Driver>(own, DriverOptions{true});
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (driver.get()->*step)(); code != ExitCode::done)
      return code;
  return ExitCode::done;
}

std::unique_ptr<precision::FormedModel>
SearchedRuns::form(const std::string &name) {
  auto formed = std::make_unique<FormedByDriver>();
  if (llvm::failed(note(compile(name, formed->driver))))
    return nullptr;
  const Driver &driver = *formed->driver;
  formed->module = formed->driver->formed();
  formed->precision = driver.options().precision;
  formed->rules = driver.weightRules();
  formed->maxError = driver.options().maxError;
  formed->boundRounding = driver.options().boundRounding;
  formed->optimize = driver.options().optimize;
  formed->layouts = driver.options().layouts;
  return formed;
}

ExitCode limitDrop(RunnableModel &model, Evaluation &evaluation,
                   SearchResult &result) {
  const QuantizeSettings &settings = model.getSettings();
  SearchedRuns searched(model);
  if (llvm::failed(precision::limitDrop(
          searched, {settings.mixed, settings.maxDrop, settings.model.target},
          evaluation, result)))
    return searched.getFailure();
  return ExitCode::done;
}

void warnOfFloats(const RunnableModel &model, const SearchResult &search) {
  if (model.listLayers().empty())
    printWarning(search.times
                     ? "all layers stay float: the float model is estimated to "
                       "be as fast as any whose drop is allowed"
                     : "all layers stay float: the drop is not allowed "
                       "otherwise");
}

} // namespace nnc::tools
