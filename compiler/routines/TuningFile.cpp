//===- TuningFile.cpp - The tuning files of nnc tune and nnc compile ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/TuningFile.h"

#include "compiler/routines/Catalogue.h"
#include "compiler/routines/MeasuredFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <set>

using namespace mlir;
using namespace nnc;

static constexpr MeasuredFileKind kTuningKind = {"nnc-tuning", 1,
                                                 "a tuning file", "nnc tune"};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printSubject(StringRef word, const Subject &subject,
                         llvm::raw_ostream &stream) {
  stream << word << ' ' << subject.layer << " : " << subject.getCall();
}

std::string TuningFile::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kTuningKind.magic << ' ' << kTuningKind.format << "\nnnc "
         << version << "\nchip " << chip << "\nisas " << llvm::join(isas, " ")
         << "\nthreads " << threads << '\n';
  if (precision != Precision::f32)
    stream << "precision " << getName(precision) << '\n';
  if (!choices.empty())
    stream << "max-error " << llvm::format("%.9g", maxError) << '\n';
  for (const Subject &choice : choices) {
    printSubject("choice", choice, stream);
    stream << '\n';
  }
  for (const auto &[subject, nanoseconds] : measurements) {
    printSubject("measured", subject, stream);
    stream << " : " << nanoseconds << '\n';
  }
  return text;
}

ArrayRef<Subject> TuningFile::getChoices(double maxError) const {
  // The tolerance allows for the digits that the error loses in the file's
  // text.
  bool fits = this->maxError <= maxError * (1 + 1e-8);
  return fits ? ArrayRef(choices) : ArrayRef<Subject>();
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  explicit Parser(SmallVectorImpl<TuningProblem> &problems)
      : problems(problems) {}
  std::optional<TuningFile> run(StringRef text);

private:
  bool parseLine(StringRef line);
  bool parseFormat(StringRef line);
  bool parseThreads(StringRef words);
  bool parsePrecision(StringRef word);
  bool parseMaxError(StringRef word);
  bool parseChoice(StringRef text);
  bool parseMeasured(StringRef text);
  /// Returns the parameters of `routine` at the beginning of `words`, or
  /// nullopt if the line is to be ignored.
  std::optional<std::vector<int64_t>> findParams(StringRef routine,
                                                 ArrayRef<StringRef> words);

  bool fail(const Twine &message) {
    problems.push_back({number, message.str(), true});
    return false;
  }
  bool leaveOut(const Twine &message) {
    problems.push_back({number, message.str() + "; left out", false});
    return true;
  }

  SmallVectorImpl<TuningProblem> &problems;
  TuningFile file;
  unsigned number = 0; ///< number of the current line, from 1
};
} // namespace

static SmallVector<StringRef> splitWords(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return words;
}

/// Splits "DEVICE:ROUTINE" into device and routine. The device of "ROUTINE",
/// which is the host, is empty.
static std::pair<StringRef, StringRef> splitDescriptor(StringRef word) {
  auto [device, routine] = word.split(':');
  return routine.empty() ? std::pair(StringRef(), word)
                         : std::pair(device, routine);
}

std::optional<TuningFile> Parser::run(StringRef text) {
  bool begun = false, sound = true;
  number = forEachLine(text, [&](StringRef line, unsigned current) {
    number = current;
    sound = begun ? parseLine(line) : parseFormat(line);
    begun = true;
    return sound;
  });
  if (!sound)
    return std::nullopt;
  if (!begun)
    parseFormat("");
  else if (file.chip.empty() || file.isas.empty())
    fail("lacks the line 'chip' or 'isas', which say where it was measured");
  else
    return std::move(file);
  return std::nullopt;
}

bool Parser::parseFormat(StringRef line) {
  std::string problem = kTuningKind.findHeadProblem(line);
  return problem.empty() || fail(problem);
}

bool Parser::parseLine(StringRef line) {
  auto [word, rest] = line.split(' ');
  rest = rest.trim();
  if (word == "measured")
    return parseMeasured(rest);
  if (word == "choice")
    return parseChoice(rest);
  if (word == "nnc")
    file.version = rest.str();
  else if (word == "chip")
    file.chip = rest.str();
  else if (word == "isas")
    for (StringRef isa : splitWords(rest))
      file.isas.push_back(isa.str());
  else if (word == "threads")
    return parseThreads(rest);
  else if (word == "precision")
    return parsePrecision(rest);
  else if (word == "max-error")
    return parseMaxError(rest);
  else
    return leaveOut("begins with '" + word + "', which this nnc does not know");
  return true;
}

bool Parser::parseThreads(StringRef words) {
  if (words.getAsInteger(10, file.threads) || file.threads < 1)
    return fail("expected a number of threads, found '" + words + "'");
  return true;
}

bool Parser::parsePrecision(StringRef word) {
  for (Precision precision : kPrecisions)
    if (word == getName(precision)) {
      file.precision = precision;
      return true;
    }
  return fail("expected the --precision of what was measured, f32, tf32, bf16, "
              "f16 or i8, "
              "found '" +
              word + "'");
}

bool Parser::parseMaxError(StringRef word) {
  if (word.getAsDouble(file.maxError) || !(file.maxError >= 0))
    return fail("expected the --max-error that the choices keep to, found '" +
                word + "'");
  return true;
}

std::optional<std::vector<int64_t>>
Parser::findParams(StringRef name, ArrayRef<StringRef> words) {
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine) {
    leaveOut("names the routine '" + name + "', which this nnc lacks");
    return std::nullopt;
  }
  std::vector<int64_t> params(words.size());
  bool valid = words.size() == routine->params.size();
  for (auto [i, word] : llvm::enumerate(words))
    valid = valid && !word.getAsInteger(10, params[i]);
  if (valid)
    return params;
  leaveOut("gives the params '" + llvm::join(words, " ") + "' to " + name +
           ", which has " + Twine(routine->params.size()));
  return std::nullopt;
}

bool Parser::parseChoice(StringRef text) {
  auto [name, rest] = text.split(" : ");
  SmallVector<StringRef> words = splitWords(rest);
  if (name.empty() || words.empty())
    return fail("expected 'choice NAME : ROUTINE PARAMS', found '" + text +
                "'");
  auto [device, routine] = splitDescriptor(words[0]);
  auto params = findParams(routine, ArrayRef(words).drop_front());
  if (params)
    file.choices.push_back(
        {name.str(), routine.str(), std::move(*params), device.str()});
  return true;
}

bool Parser::parseMeasured(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, " : ");
  int64_t nanoseconds;
  if (parts.size() != 3 || parts[0].empty() || splitWords(parts[1]).empty() ||
      parts[2].getAsInteger(10, nanoseconds) || nanoseconds < 1)
    return fail("expected 'measured LAYER : ROUTINE PARAMS : NANOSECONDS', "
                "found '" +
                text + "'");
  SmallVector<StringRef> words = splitWords(parts[1]);
  auto [device, routine] = splitDescriptor(words[0]);
  auto params = findParams(routine, ArrayRef(words).drop_front());
  if (!params)
    return true;
  Subject subject{parts[0].str(), routine.str(), std::move(*params),
                  device.str()};
  if (!file.measurements.emplace(std::move(subject), nanoseconds).second)
    return fail("measures again what a line before it does; keep one of them");
  return true;
}

std::optional<TuningFile>
nnc::parseTuningFile(StringRef text, SmallVectorImpl<TuningProblem> &problems) {
  return Parser(problems).run(text);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Removes the choices and measurements for devices that `machine` lacks from
/// `file`, and returns the names of these devices.
static std::set<std::string> leaveOutDevices(TuningFile &file,
                                             target::MachineAttr machine) {
  std::set<std::string> devices;
  auto isLacking = [&](const Subject &subject) {
    bool lacks = !machine.findDevice(subject.device);
    if (lacks)
      devices.insert(subject.device);
    return lacks;
  };
  llvm::erase_if(file.choices, isLacking);
  for (auto it = file.measurements.begin(); it != file.measurements.end();)
    it = isLacking(it->first) ? file.measurements.erase(it) : std::next(it);
  return devices;
}

FailureOr<TuningFile> nnc::readTuningFile(StringRef path,
                                          target::MachineAttr machine) {
  auto at = [&](unsigned line) {
    return getLineLoc(machine.getContext(), path, line);
  };
  auto buffer = readWithDiagnostic(path, machine.getContext());
  if (failed(buffer))
    return failure();
  SmallVector<TuningProblem> problems;
  auto file = parseTuningFile((*buffer)->getBuffer(), problems);
  for (const TuningProblem &problem : problems) {
    if (problem.isBroken)
      emitError(at(problem.line), problem.message);
    else
      emitWarning(at(problem.line), problem.message);
  }
  if (!file)
    return failure();
  for (const std::string &device : leaveOutDevices(*file, machine))
    emitWarning(at(0), "has lines of the device '")
        << device << "', which the target '" << machine.getName()
        << "' lacks; left out";
  if (std::string mismatch =
          kTuningKind.findMismatch(file->isas, file->chip, machine);
      !mismatch.empty())
    return emitError(at(0), mismatch);
  return std::move(*file);
}
