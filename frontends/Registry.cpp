//===- Registry.cpp - All frontends ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/Registry.h"

#include "frontends/common/Problems.h"
#include "frontends/common/SizeGuesses.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;
namespace fs = llvm::sys::fs;

#define NNC_FRONTEND(name)                                                     \
  namespace nnc::name {                                                        \
  const Frontend &getFrontend();                                               \
  }
#include "frontends/frontends.inc"

ArrayRef<const Frontend *> nnc::frontends::getFrontends() {
  static const Frontend *const all[] = {
#define NNC_FRONTEND(name) &nnc::name::getFrontend(),
#include "frontends/frontends.inc"
  };
  return all;
}

std::string nnc::frontends::describeFormats() {
  SmallVector<std::string> formats;
  for (const Frontend *frontend : getFrontends())
    formats.push_back(
        (frontend->name + " (" + frontend->extensions + ")").str());
  return llvm::join(formats, ", ");
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// A format that nnc does not read: a line of signatures.inc.
struct Signature {
  ImportStatus status;
  size_t offset;
  StringLiteral bytes, format, advice;
};
} // namespace

static constexpr Signature kSignatures[] = {
#define NNC_SIGNATURE(status, offset, bytes, format, advice)                   \
  {ImportStatus::status, offset, StringLiteral::withInnerNUL(bytes), format,   \
   advice},
#include "frontends/signatures.inc"
};

static const Signature *findSignature(StringRef start) {
  for (const Signature &signature : kSignatures)
    if (start.substr(signature.offset).starts_with(signature.bytes))
      return &signature;
  return nullptr;
}

const Frontend *nnc::frontends::findFrontend(const FileStart &start) {
  auto find = [&](bool hasMagic) -> const Frontend * {
    for (const Frontend *frontend : getFrontends())
      if (frontend->hasMagic == hasMagic && frontend->recognizes(start))
        return frontend;
    return nullptr;
  };
  if (const Frontend *frontend = find(/*hasMagic=*/true))
    return frontend;
  // Formats without a magic number accept some files of other formats.
  return findSignature(start.bytes) ? nullptr : find(/*hasMagic=*/false);
}

/// Returns the frontend of a file, or null after an error if there is none.
static const Frontend *pickFrontend(const FileStart &start,
                                    Problems &problems) {
  if (const Frontend *frontend = findFrontend(start))
    return frontend;
  if (const Signature *signature = findSignature(start.bytes)) {
    problems.report(signature->status)
        << "is not a model that nnc reads: it looks like " << signature->format
        << "; " << signature->advice;
    return nullptr;
  }
  problems.report(ImportStatus::broken)
      << "is not a model that nnc reads, which are " << describeFormats()
      << "; if it should be one, the file is damaged or was not fetched as a "
         "whole";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Models with open dimensions
//===----------------------------------------------------------------------===//

namespace {
/// A scope whose diagnostics are held back.
class Kept {
public:
  explicit Kept(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          diagnostics.push_back(std::move(diagnostic));
          return success();
        }) {}
  std::vector<Diagnostic> diagnostics;

private:
  ScopedDiagnosticHandler handler;
};

/// An import with guessed sizes, and the problems that it reported.
struct Attempt {
  SizeGuess trial;
  ImportResult result;
  std::vector<Diagnostic> problems;
  /// The number of problems that the sizes may have caused.
  size_t doubts = 0;
};
} // namespace

/// Returns the name of the node or value at `loc`, or an empty string.
static std::string getName(Location loc) {
  std::string name;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part); named && name.empty())
      name = named.getName().str();
    return WalkResult::advance();
  });
  return name;
}

static Attempt tryImport(const Frontend &frontend, StringRef path,
                         const ImportOptions &options, SizeGuess trial,
                         MLIRContext &context) {
  Attempt attempt;
  ImportOptions tried = options;
  tried.shapes = trial.shapes;
  tried.takesOneSample = false;
  tried.trial = "with " + trial.arguments;
  {
    Kept kept(context);
    attempt.result = frontend.importModel(path, tried, context);
    attempt.problems = std::move(kept.diagnostics);
  }
  // Other warnings are dropped because every import with these sizes emits
  // them.
  llvm::erase_if(attempt.problems, [&](Diagnostic &diagnostic) {
    return diagnostic.getSeverity() != DiagnosticSeverity::Error &&
           !StringRef(diagnostic.str()).starts_with(tried.trial);
  });
  attempt.doubts = llvm::count_if(attempt.problems, [](Diagnostic &diagnostic) {
    return diagnostic.getSeverity() != DiagnosticSeverity::Error;
  });
  attempt.trial = std::move(trial);
  return attempt;
}

/// Returns the nodes that more than half of several attempts reported. Their
/// problems do not depend on the guessed sizes.
static llvm::StringSet<> findLasting(std::vector<Attempt> &attempts) {
  llvm::StringMap<size_t> counts;
  for (Attempt &attempt : attempts) {
    llvm::StringSet<> names;
    for (Diagnostic &diagnostic : attempt.problems)
      names.insert(getName(diagnostic.getLocation()));
    for (const auto &name : names)
      ++counts[name.getKey()];
  }
  llvm::StringSet<> lasting;
  for (const auto &[name, count] : counts)
    if (attempts.size() > 1 && 2 * count > attempts.size())
      lasting.insert(name);
  return lasting;
}

/// Reports problems of a model other than its open dimensions, and how to bind
/// these. `known` has the nodes and texts of the problems that have been
/// reported.
static void checkBeyondOpen(const Frontend &frontend, StringRef path,
                            const ImportOptions &options,
                            const llvm::StringSet<> &known, StringRef command,
                            ImportResult &result, MLIRContext &context) {
  std::vector<Attempt> attempts;
  for (SizeGuess &trial : guessSizes(result.open, options.shapes)) {
    attempts.push_back(
        tryImport(frontend, path, options, std::move(trial), context));
    if (attempts.back().doubts == 0)
      break;
  }
  llvm::StringSet<> lasting = findLasting(attempts);
  for (Attempt &attempt : attempts)
    attempt.doubts =
        llvm::count_if(attempt.problems, [&](Diagnostic &diagnostic) {
          return diagnostic.getSeverity() != DiagnosticSeverity::Error &&
                 !lasting.contains(getName(diagnostic.getLocation()));
        });
  auto best =
      llvm::min_element(attempts, [](const Attempt &a, const Attempt &b) {
        return a.doubts < b.doubts;
      });
  DiagnosticEngine &engine = context.getDiagEngine();
  for (Diagnostic &diagnostic : best->problems)
    if (!known.contains(getName(diagnostic.getLocation())) &&
        !known.contains(diagnostic.str())) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          (result.status == ImportStatus::unbound ||
           result.status == ImportStatus::limit))
        result.status = best->result.status == ImportStatus::broken
                            ? ImportStatus::broken
                            : ImportStatus::unsupported;
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        diagnostic << "; other sizes may fit";
      engine.emit(std::move(diagnostic));
    }
  result.trial = std::move(best->result.module);
  emitError(FileLineColLoc::get(&context, path, 0, 0))
      << "leaves sizes of its inputs open; this binds all of them, to sizes "
         "that are an example: nnc "
      << (command.empty() ? "check" : command) << " " << quoteForShell(path)
      << " " << best->trial.arguments
      << (command.empty() ? "; with bounds such as 1..8 in place of a number, "
                            "nnc compile makes code for each size between them"
                          : "");
}

/// Warns that the model leaves the number of samples open, and says which
/// option binds it. `result` is the import with one sample.
static void warnOfOneSample(StringRef path, const ImportResult &result,
                            StringRef command, MLIRContext &context) {
  std::string arguments;
  llvm::StringSet<> bound;
  for (const auto &[input, shape] : result.samples) {
    // Dimensions with the same name have the same size.
    auto names = result.dimNames.find(input);
    if (names != result.dimNames.end() && !names->second.front().empty() &&
        !bound.insert(names->second.front()).second)
      continue;
    std::vector<int64_t> more = shape;
    more.front() = 8;
    arguments += " --shape " + quoteForShell(input + "=" + toString(more));
  }
  emitWarning(FileLineColLoc::get(&context, path, 0, 0))
      << "leaves only the number of samples open, of which 1 is taken;"
      << arguments << " takes 8"
      << (command.empty() ? ", and nnc compile takes 1..8 in place of the 8 "
                            "for any number up to that"
                          : "");
}

/// Returns true if another number of samples would not solve any problem of a
/// model whose import for one sample failed: all problems also occur with the
/// number left open, or are independent of sizes.
static bool fitsOneSample(const Frontend &frontend, StringRef path,
                          const ImportOptions &options,
                          const GivenShapes &samples, MLIRContext &context) {
  SizeGuess trial{options.shapes, "one sample"};
  trial.shapes.insert(samples.begin(), samples.end());
  Attempt attempt =
      tryImport(frontend, path, options, std::move(trial), context);
  llvm::StringSet<> known;
  {
    Kept kept(context);
    ImportOptions open = options;
    open.takesOneSample = false;
    frontend.importModel(path, open, context);
    for (Diagnostic &diagnostic : kept.diagnostics)
      known.insert(getName(diagnostic.getLocation()));
  }
  return llvm::all_of(attempt.problems, [&](Diagnostic &diagnostic) {
    return diagnostic.getSeverity() == DiagnosticSeverity::Error ||
           known.contains(getName(diagnostic.getLocation()));
  });
}

/// Imports a model whose only open dimension is the number of samples with one
/// sample. Returns nullopt without a report if other dimensions are open or if
/// the rest of the model does not fit one sample.
static std::optional<ImportResult> importOneSample(const Frontend &frontend,
                                                   StringRef path,
                                                   const ImportOptions &options,
                                                   MLIRContext &context,
                                                   StringRef command) {
  ImportResult result;
  std::vector<Diagnostic> said;
  {
    Kept kept(context);
    result = frontend.importModel(path, options, context);
    said = std::move(kept.diagnostics);
  }
  if (!result.open.empty())
    return std::nullopt;
  if (!result.samples.empty() && result.status != ImportStatus::ok &&
      !fitsOneSample(frontend, path, options, result.samples, context))
    return std::nullopt;
  for (Diagnostic &diagnostic : said)
    context.getDiagEngine().emit(std::move(diagnostic));
  if (!result.samples.empty() && result.status == ImportStatus::ok)
    warnOfOneSample(path, result, command, context);
  return result;
}

static ImportResult importWith(const Frontend &frontend, StringRef path,
                               const ImportOptions &given, MLIRContext &context,
                               StringRef command) {
  ImportOptions options = given;
  if (options.takesOneSample) {
    if (auto result =
            importOneSample(frontend, path, options, context, command))
      return std::move(*result);
    options.takesOneSample = false;
  }
  llvm::StringSet<> known;
  ImportResult result;
  // An input whose value is given under a wrong name would be treated as open.
  bool isWrongValue = false;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      known.insert(diagnostic.str());
      std::string name = getName(diagnostic.getLocation());
      if (!name.empty())
        known.insert(name);
      isWrongValue |= name.empty() && !options.values.empty() &&
                      diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure(); // Others show it.
    });
    result = frontend.importModel(path, options, context);
  }
  if (!result.open.empty() && !isWrongValue)
    checkBeyondOpen(frontend, path, options, known, command, result, context);
  return result;
}

bool nnc::frontends::isModelFolder(StringRef path) {
  if (!fs::is_directory(path))
    return false;
  auto start = readFileStart(path);
  return start && findFrontend(*start);
}

ImportResult nnc::frontends::importModel(StringRef path,
                                         const ImportOptions &options,
                                         MLIRContext &context,
                                         StringRef command) {
  Problems problems(context, path);
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken) << why;
    ImportResult result;
    result.status = problems.getStatus();
    return result;
  };
  fs::file_status info;
  if (std::error_code error = fs::status(path, info))
    return fail("cannot be read: " + error.message());
  // Opening a pipe or a device could wait forever.
  if (!fs::is_regular_file(info) && !isModelFolder(path))
    return fail(fs::is_directory(info)
                    ? "is a folder, and no model that is kept in one"
                    : "is not a file");
  auto start = readFileStart(path);
  if (!start)
    return fail("cannot be read: " + start.getError().message());
  if (start->size == 0 && !start->isFolder)
    return fail("is empty");
  if (int64_t(start->size) > options.limits.file) {
    ImportResult result;
    auto diagnostic = problems.report(ImportStatus::limit);
    diagnostic << "has " << start->size
               << " bytes, more than --limit file=" << options.limits.file
               << " allows";
    addExpectation(diagnostic,
                   "at most " + Twine(options.limits.file) + " bytes",
                   Twine(start->size) + " bytes");
    result.status = problems.getStatus();
    return result;
  }
  const Frontend *frontend = pickFrontend(*start, problems);
  if (frontend && !options.weights.empty() &&
      frontend->weightExtensions.empty())
    problems.report(ImportStatus::unbound)
        << "holds its weights itself; leave out --weights "
        << quoteForShell(options.weights);
  if (frontend && !options.signature.empty() && !frontend->hasSignatures)
    problems.report(ImportStatus::unbound)
        << "is a model of " << frontend->name
        << ", for which --signature=" << quoteForShell(options.signature)
        << " says nothing; leave it out";
  if (frontend && problems.none())
    return importWith(*frontend, path, options, context, command);
  ImportResult result;
  result.status = problems.getStatus();
  return result;
}

//===----------------------------------------------------------------------===//
// Test data
//===----------------------------------------------------------------------===//

SmallVector<StringRef> nnc::frontends::getTensorExtensions() {
  SmallVector<StringRef> extensions;
  for (const Frontend *frontend : getFrontends())
    if (frontend->readTensor)
      extensions.push_back(frontend->tensorExtension);
  return extensions;
}

llvm::Expected<RawTensor> nnc::frontends::readTensorFile(StringRef path) {
  for (const Frontend *frontend : getFrontends())
    if (frontend->readTensor &&
        llvm::sys::path::extension(path) == frontend->tensorExtension)
      return frontend->readTensor(path);
  return llvm::createStringError(path + " is no file of a tensor that nnc "
                                        "reads");
}
