//===- Tune.cpp - nnc tune ------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/LayerForms.h"
#include "compiler/routines/TuningFile.h"
#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/measure/Meter.h"
#include "compiler/tools/driver/measure/TuningStore.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Clock.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Workbench.h"
#include "compiler/tuning/FusionAlternatives.h"
#include "compiler/tuning/Selection.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// The largest number of jobs in the first batch and in later ones. After each
/// batch, the new measurements decide what to measure next. The first batch is
/// small, since it shows how long it takes to build jobs.
constexpr size_t firstBatch = 16, batchSize = 96;

/// Seconds assumed for building and running a job until the first batch has
/// shown them.
constexpr double guessedSeconds = 0.4;
/// Seconds that a batch takes beyond its jobs, for building the runner and
/// linking.
constexpr double batchSeconds = 2;
/// The fraction of the remaining time that a batch of jobs, or the runs of
/// whole plans, may be expected to take. It is below 1 because some take longer
/// than expected.
constexpr double caution = 0.6, planCaution = 0.8;
/// Seconds for all runs of a job together.
constexpr double runSeconds = 0.05;

/// Fractions of the budget. After ownShare, pairs of layers are measured in the
/// form (fused or not) that they do not have. After jobsShare, whole plans are
/// run if the rest of the budget suffices.
constexpr double ownShare = 0.45, jobsShare = 0.6;
/// The number of rounds in which measurements decide the forms of layers (fused
/// or not) anew. A second round may change them, since costs of neighbours have
/// changed.
constexpr int mostForms = 2;
/// The largest number of whole plans that are run, and the largest number of
/// bytes of all of their weights.
constexpr size_t mostPlans = 4;
constexpr int64_t mostPlanBytes = int64_t(1) << 31;
/// Seconds for the runs of a whole plan; seconds to put a gigabyte of weights
/// into a program; and the time to build a layer of a whole plan, as a fraction
/// of the time for a job.
constexpr double planRunSeconds = 1, gigabyteSeconds = 20, layerShare = 0.3;

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Parses a duration such as "60s", "2m" or "90" into seconds. Returns a
/// negative number if the text is not a duration.
double parseDuration(llvm::StringRef text) {
  double unit = 1, value;
  if (text.consume_back("m"))
    unit = 60;
  else
    text.consume_back("s");
  bool valid = !text.getAsDouble(value) && value >= 0 && value < 1e6;
  return valid ? value * unit : -1;
}

/// The function that is tuned, with its layers in one of their possible forms
/// (pairs fused or not).
struct Form {
  mlir::func::FuncOp function;
  /// Null if the driver owns the module.
  mlir::OwningOpRef<mlir::ModuleOp> owner;
  LayerForms others; ///< other forms of its layers, with other element types
  CandidateMemo memo;

  Form(mlir::ModuleOp module, const ModelOptions &options,
       const WeightRules &rules)
      : function(*module.getOps<mlir::func::FuncOp>().begin()),
        others(function, options.precision, limitProducts(rules),
               options.boundRounding) {}
  Form(mlir::OwningOpRef<mlir::ModuleOp> module, const ModelOptions &options,
       const WeightRules &rules)
      : Form(module.get(), options, rules) {
    owner = std::move(module);
  }
};

class Tune : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addPrecisionOption(app, options);
    app.add_option_function<std::string>(
           "--budget",
           [this](const std::string &text) {
             budget = parseDuration(text);
             if (budget < 0)
               throw CLI::ValidationError(
                   "--budget",
                   fmt::format("'{}' is no time; give 60s or 2m", text));
           },
           "How long to measure; what does not fit stays estimated")
        ->type_name("TIME")
        ->default_str("60s");
    app.add_option("-o,--output", output,
                   "File to write; the model's name and .tune unless given")
        ->type_name("FILE");
    addThreadCountOption(app, threads);
    addCompilerOption(app, compiler);
    app.add_option("--cache", cache,
                   "Folder that keeps measurements for later runs, or none; "
                   "nnc in the user's cache folder unless given")
        ->type_name("DIR|none");
    addPlaceOption(app, on);
    app.add_flag("--all", all,
                 "Measure also what cannot be better by its cost, as far as "
                 "there is time: a sample to judge costs by");
    addJsonOption(app, json);
  }

  ExitCode run() override {
    options.runOn(threads);
    // The budget begins here, not when the options were parsed.
    watch = Stopwatch();
    if (output.empty())
      output = llvm::sys::path::stem(options.model).str() + ".tune";
    if (ExitCode code = checkNoInput(output, {options.model});
        code != ExitCode::done)
      return code;
    driver =
        std::make_unique<Driver>(options, DriverOptions{/*keepStages=*/true});
    for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
      if (ExitCode code = ((*driver).*step)(); code != ExitCode::done)
        return code;
    auto found = target::getTarget(driver->formed());
    if (mlir::failed(found))
      return ExitCode::ownFault;
    machine = *found;
    untunedForm = form = std::make_shared<Form>(driver->formed(), options,
                                                driver->weightRules());
    if (driver->tuned() && driver->tuned()->threads == threads) {
      known = driver->tuned()->measurements;
      choices = driver->tuned()->getChoices(options.maxError).vec();
    }
    Workbench bench{options.target, compiler, on};
    if (ExitCode code = bench.findTools(machine, toolchain);
        code != ExitCode::done)
      return code;
    chip = bench.describeChip(machine);
    if (llvm::Error error = tune())
      return fail(std::move(error),
                  on.empty() ? ExitCode::ownFault : ExitCode::usage);
    if (llvm::Error error = write())
      return fail(std::move(error), ExitCode::usage);
    report();
    return ExitCode::done;
  }

private:
  /// Returns a text of all properties that times depend on, besides the
  /// candidate.
  llvm::Expected<std::string> describeMachine(int64_t weightBytes) const {
    llvm::Expected<std::string> version = compilerVersion(toolchain);
    if (!version)
      return version.takeError();
    auto caches = machine.getHost().getCore().getCaches().asArrayRef();
    auto holds = [&](int64_t bytes) { return bytes >= weightBytes; };
    return fmt::format("{}, {}, {}, {} threads, weights at level {}", chip,
                       *version, fmt::join(toolchain.flags, " "), threads,
                       llvm::find_if(caches, holds) - caches.begin() + 1);
  }

  llvm::Error tune() {
    Progress progress("tuning");
    // All measurements together fit into the budget. They may take less.
    progress.setSecondsLeft(budget - watch.seconds());
    int64_t weightBytes = getWeightBytes(form->function);
    auto meter = Meter::create(machine, toolchain, threads, weightBytes);
    if (!meter)
      return meter.takeError();
    llvm::Expected<std::string> where = describeMachine(weightBytes);
    if (!where)
      return where.takeError();
    Store store(cache, *where);
    const size_t given = recalled = known.size();
    recall(*form, store);
    if (llvm::Error error =
            measure(*meter, store, (all ? 1 : ownShare) * budget))
      return error;
    if (known.size() > given)
      choices.clear();
    // If nothing new was chosen, the choices of --tuning stay.
    if (!choices.empty())
      return llvm::Error::success();
    if (!all)
      if (llvm::Error error = measureForms(*meter, store, jobsShare * budget))
        return error;
    if (llvm::Error error = runPlans(*meter, store, weightBytes))
      return error;
    // The cheapest plan by measurements of layers is used if no whole plan was
    // run.
    if (choices.empty())
      return measure(*meter, store, budget);
    return llvm::Error::success();
  }

  /// Adds the stored measurements of the form's layers to the known ones.
  void recall(const Form &of, Store &store) {
    size_t before = known.size();
    CostModel cost(machine, getWeightBytes(of.function));
    cost.setForms(&of.others);
    cost.setWeightRules(driver->weightRules());
    store.recall(of.function, cost, known);
    recalled += known.size() - before;
  }

  CostModel makeCosts(Form &of) const {
    return makeCostModel(of.function, machine, &known, &of.memo, &of.others,
                         driver->weightRules());
  }

  /// Measures pairs of layers in the form that they do not have: fused if they
  /// are apart, and apart if they are fused. Then the measurements decide which
  /// form each pair gets. Stops at the time `end`.
  llvm::Error measureForms(const Meter &meter, Store &store, double end) {
    for (int round = 0; round < mostForms; ++round) {
      std::vector<std::unique_ptr<Form>> others;
      for (const FusedForm &form : kFusedForms) {
        auto file = std::make_shared<TuningFile>();
        file->choices = chooseOtherForms(this->form->function, form);
        if (file->choices.empty())
          continue;
        auto module = driver->formLayers(std::move(file));
        if (!module)
          return makeError("layers cannot be put into another form");
        others.push_back(std::make_unique<Form>(std::move(module), options,
                                                driver->weightRules()));
        recall(*others.back(), store);
      }
      size_t ownLeft = left;
      for (size_t before = 0; before != known.size();) {
        before = known.size();
        llvm::SmallVector<Job, 0> jobs;
        for (auto &other : others)
          llvm::append_range(
              jobs, selectOtherJobs(other->function, form->function,
                                    makeCosts(*other), options.maxError));
        if (llvm::Error error =
                measureSome(std::move(jobs), batchSize, meter, store, end))
          return error;
      }
      left += ownLeft;
      auto file = std::make_shared<TuningFile>();
      file->measurements = known;
      auto module = driver->formLayers(std::move(file));
      if (!module)
        return makeError("layers cannot be formed again");
      auto again = std::make_shared<Form>(std::move(module), options,
                                          driver->weightRules());
      if (countOtherLayers(again->function, form->function) == 0)
        break;
      form = std::move(again);
      recall(*form, store);
      if (llvm::Error error = measure(meter, store, end))
        return error;
    }
    return llvm::Error::success();
  }

  /// Measures the candidates that promise the largest gain, and repeats this
  /// with the new measurements until the time `end`.
  llvm::Error measure(const Meter &meter, Store &store, double end) {
    for (size_t most = firstBatch;; most = batchSize) {
      auto select = all ? sampleJobs : selectJobs;
      auto selection =
          select(form->function, makeCosts(*form), options.maxError);
      if (mlir::failed(selection))
        return makeError("there is no plan to improve");
      planSeconds = selection->planSeconds;
      size_t before = known.size();
      if (llvm::Error error =
              measureSome(std::move(selection->jobs), most, meter, store, end))
        return error;
      if (known.size() == before)
        return llvm::Error::success();
    }
  }

  /// Measures the first `most` of these jobs, or as many as can be measured
  /// until the time `end`.
  llvm::Error measureSome(llvm::SmallVector<Job, 0> jobs, size_t most,
                          const Meter &meter, Store &store, double end) {
    double begin = watch.seconds();
    double fit = caution * (end - begin - batchSeconds) / each;
    size_t count = std::min(most, jobs.size());
    if (fit < double(count))
      count = size_t(std::max(fit, 0.0));
    left = jobs.size() - count;
    if (count == 0)
      return llvm::Error::success();
    jobs.truncate(count);
    auto times = meter.measure(jobs, runSeconds * double(count));
    if (!times)
      return times.takeError();
    store.keep(jobs, *times);
    for (auto [job, time] : llvm::zip(jobs, *times))
      known[job.subject] = time;
    spent += std::max(watch.seconds() - begin - batchSeconds, 0.0);
    total += double(count);
    each = spent / total + runSeconds;
    // Written after each batch, so that a user who interrupts the command has a
    // file.
    return write();
  }

  /// Builds and runs as many of the best whole plans as there is time for, and
  /// chooses the fastest.
  llvm::Error runPlans(const Meter &meter, Store &store, int64_t weightBytes) {
    auto found = findWholePlans(form->function, machine, known,
                                options.maxError, mostPlans, &form->memo,
                                &form->others, driver->weightRules());
    if (mlir::failed(found))
      return makeError("there is no plan to run");
    plans = std::move(*found);
    if (form != untunedForm)
      if (llvm::Error error = addUntunedPlan())
        return error;
    planTimes = store.recall(plans);
    if (planTimes.size() < 2) {
      planTimes.clear();
      double gigabytes = double(weightBytes) * 1e-9;
      double seconds = double(plans.front().jobs.size()) * each * layerShare +
                       gigabytes * gigabyteSeconds + planRunSeconds;
      double fit =
          planCaution * (budget - watch.seconds() - batchSeconds) / seconds;
      fit = std::min(fit, double(mostPlanBytes) / double(weightBytes + 1));
      size_t count = std::min(plans.size(), size_t(std::max(fit, 0.0)));
      if (count < 2)
        return llvm::Error::success();
      plans.resize(count);
      llvm::Expected<std::vector<int64_t>> times = runPlans(meter);
      if (!times)
        return times.takeError();
      planTimes = std::move(*times);
      store.keep(plans, planTimes);
    }
    auto least = std::min_element(planTimes.begin(), planTimes.end());
    choices = plans[least - planTimes.begin()].choices;
    return llvm::Error::success();
  }

  /// Replaces the plan that estimates choose for the present forms of layers by
  /// the plan that they choose without any measurement, whose layers may have
  /// other forms.
  llvm::Error addUntunedPlan() {
    llvm::erase_if(plans, [&](const WholePlan &plan) {
      return plan.untuned && &plan != &plans.front();
    });
    plans.front().untuned = false;
    auto untuned = findUntunedPlan();
    if (mlir::failed(untuned))
      return makeError("there is no plan to run");
    plans.insert(plans.begin() + 1, std::move(*untuned));
    return llvm::Error::success();
  }

  /// Returns the plan that is chosen without any measurement, with the cost
  /// that measurements give it.
  mlir::FailureOr<WholePlan> findUntunedPlan() const {
    auto found = findWholePlans(untunedForm->function, machine, known,
                                options.maxError, 0, &untunedForm->memo,
                                &untunedForm->others, driver->weightRules());
    if (mlir::failed(found))
      return mlir::failure();
    return std::move(*llvm::find_if(
        *found, [](const WholePlan &plan) { return plan.untuned; }));
  }

  llvm::Expected<std::vector<int64_t>> runPlans(const Meter &meter) const {
    llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
    if (!folder)
      return folder.takeError();
    std::vector<Manifest> modules;
    for (const WholePlan &plan : plans) {
      std::string code =
          fmt::format("{}/code{}", (*folder)->path(), modules.size());
      auto file = std::make_shared<TuningFile>(makeFile());
      file->choices = plan.choices;
      auto layers = plan.jobs.front().layer->getParentOfType<mlir::ModuleOp>();
      if (driver->emitTuned(layers, std::move(file), code) != ExitCode::done)
        return makeError("a plan that was found cannot be compiled");
      llvm::Expected<Manifest> manifest = readManifest(code);
      if (!manifest)
        return manifest.takeError();
      modules.push_back(std::move(*manifest));
    }
    return meter.measure(modules, planRunSeconds * double(modules.size()));
  }

  TuningFile makeFile() const {
    TuningFile file;
    file.version = NNC_VERSION;
    file.chip = chip;
    for (auto isa :
         machine.getHost().getIsas().getAsValueRange<mlir::StringAttr>())
      file.isas.push_back(isa.str());
    file.threads = threads;
    file.precision = options.precision;
    file.maxError = options.maxError;
    file.choices = choices;
    file.measurements = known;
    return file;
  }

  llvm::Error write() const {
    return replaceTextFile(output, makeFile().print());
  }

  void report() const {
    double before = planSeconds;
    if (!known.empty())
      if (auto untuned = findUntunedPlan(); mlir::succeeded(untuned))
        before = untuned->seconds;
    size_t otherForms = countOtherLayers(form->function, untunedForm->function);
    if (json) {
      json::Array whole;
      for (auto [plan, time] : llvm::zip(plans, planTimes))
        whole.push_back(json::Object{{"seconds", double(time) * 1e-9},
                                     {"layers_seconds", plan.seconds},
                                     {"untuned", plan.untuned}});
      printJson(json::Object{{"file", output},
                             {"chip", chip},
                             {"measured", int64_t(known.size() - recalled)},
                             {"known_before", int64_t(recalled)},
                             {"left_estimated", int64_t(left)},
                             {"seconds", watch.seconds()},
                             {"other_forms", int64_t(otherForms)},
                             {"untuned_plan_seconds", before},
                             {"plan_seconds", planSeconds},
                             {"whole_plans", std::move(whole)}});
      return;
    }
    printOut("{}: {} measured in {}, {} known before, on {}\n",
             displayText(output), known.size() - recalled,
             formatSeconds(watch.seconds()), recalled, chip);
    if (left)
      printOut("{} more that could matter stay estimated; a longer --budget "
               "measures them\n",
               left);
    if (!known.empty())
      printOut("the plan without them takes {}, with them {}: {:.1f} % "
               "less\n",
               formatSeconds(before), formatSeconds(planSeconds),
               100 * (1 - planSeconds / before));
    if (otherForms)
      printOut("layers that are one in the place of two, or of two in the "
               "place of one, by what was measured: {}\n",
               otherForms);
    if (!planTimes.empty())
      reportPlans();
  }

  void reportPlans() const {
    auto text = [](int64_t time) { return formatSeconds(double(time) * 1e-9); };
    auto least = std::min_element(planTimes.begin(), planTimes.end());
    printOut("of {} whole plans, run in turns, the fastest takes {}",
             planTimes.size(), text(*least));
    for (auto [plan, time] : llvm::zip(plans, planTimes))
      if (plan.untuned)
        printOut(", the one without measurements {}", text(time));
    printOut("\n");
  }

  ModelOptions options;
  std::string output, compiler, cache, on, chip;
  double budget = 60;
  int threads = 1;
  bool json = false, all = false;

  Stopwatch watch;
  Toolchain toolchain;
  target::MachineAttr machine;
  /// Owns the context, which must outlive the members below.
  std::unique_ptr<Driver> driver;
  /// The forms of the layers that estimates choose, and those that measurements
  /// choose.
  std::shared_ptr<Form> untunedForm, form;
  Measurements known;
  std::vector<Subject> choices;
  llvm::SmallVector<WholePlan, 0> plans;
  /// Times of the first plans, in nanoseconds; may be empty.
  std::vector<int64_t> planTimes;
  double each = guessedSeconds; ///< seconds to build and run a job
  /// The seconds spent on jobs (`spent`), and the number of jobs (`total`).
  double spent = 0, total = 0;
  size_t recalled = 0, left = 0;
  double planSeconds = 0;
};

} // namespace

std::unique_ptr<Command> makeTune() { return std::make_unique<Tune>(); }

} // namespace nnc::tools
