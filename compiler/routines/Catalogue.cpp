//===- Catalogue.cpp - The tables of runtime/ as data ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Catalogue.h"

#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/catalogue/launches.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>
#include <tuple>

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Lines of routines.inc
//===----------------------------------------------------------------------===//

/// Returns the constant `name` of a table, or null.
static double *findConstant(routine_costs &table, StringRef name) {
#define NNC_COST_FIELD(field, unit, meaning)                                   \
  if (name == #field)                                                          \
    return &table.field;
#include "runtime/routines/costs/fields.inc"
  return nullptr;
}

/// The constants that tryCosts() set in place of all_costs, if it was called.
static std::optional<cost_tables> trialCosts;

std::string nnc::tryCosts(StringRef text) {
  cost_tables tables = trialCosts.value_or(all_costs);
  unsigned number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("//"))
      continue;
    StringRef rest = line;
    SmallVector<StringRef> cells;
    bool isLine = rest.consume_front("NNC_COST(") && rest.consume_back(")");
    rest.split(cells, ',');
    double value = 0;
    isLine = isLine && cells.size() == 3 && !cells[2].trim().getAsDouble(value);
    double *constant = nullptr;
    if (isLine) {
      [[maybe_unused]] StringRef isa = cells[0].trim(), name = cells[1].trim();
#define NNC_COST_TABLE(table)                                                  \
  if (isa == #table)                                                           \
    constant = findConstant(tables.table, name);
#include "runtime/routines/costs/tables.inc"
    }
    if (!constant)
      return ("line " + Twine(number) +
              ": expected NNC_COST(instruction set, name, value) with a table "
              "and a constant of runtime/routines/costs/, found '" +
              line + "'")
          .str();
    *constant = value;
  }
  trialCosts = tables;
  return "";
}

/// Returns the limits of register tiles of an instruction set on `core`.
static tile_limits getTile(const tile_limits &usual, const core_limits &core) {
  tile_limits tile = usual.on(core);
  if (trialCosts) {
#define NNC_COST_TABLE(isa)                                                    \
  if (usual.cost == &all_costs.isa)                                            \
    tile.cost = &trialCosts->isa;
#include "runtime/routines/costs/tables.inc"
  }
  return tile;
}

// Each line of the table becomes a struct whose members are the parameters, so
// that the expressions can refer to them by name.
#define PARAMS(...) __VA_OPT__(int __VA_ARGS__;)
#define APPLIES(...) __VA_ARGS__
#define SCRATCH(...) __VA_ARGS__
#define EFFICIENCY(...) __VA_ARGS__
#define ERROR(...) __VA_ARGS__
#define LAUNCH(...) __VA_ARGS__
#define NNC_ROUTINE(FAMILY, NAME, HEADER, ISA, TYPES, LAYOUTS, PARAMS,         \
                    CANDIDATES, APPLIES, SCRATCH, EFFICIENCY, ERROR, ...)      \
  namespace {                                                                  \
  struct NAME##_line {                                                         \
    PARAMS                                                                     \
    bool applies([[maybe_unused]] const FAMILY##_shape &s) const {             \
      return APPLIES;                                                          \
    }                                                                          \
    int64_t scratch([[maybe_unused]] const FAMILY##_shape &s,                  \
                    [[maybe_unused]] int threads) const {                      \
      return SCRATCH;                                                          \
    }                                                                          \
    double efficiency([[maybe_unused]] const FAMILY##_shape &s,                \
                      const core_limits &core) const {                         \
      [[maybe_unused]] const tile_limits tile = getTile(ISA##_tile, core);     \
      return EFFICIENCY;                                                       \
    }                                                                          \
    double error([[maybe_unused]] const FAMILY##_shape &s) const {             \
      return ERROR;                                                            \
    }                                                                          \
    std::optional<launch_size>                                                 \
    launch([[maybe_unused]] const FAMILY##_shape &s) const {                   \
      return std::optional<launch_size>(__VA_ARGS__);                          \
    }                                                                          \
  };                                                                           \
  }
#include "runtime/routines/catalogue/routines.inc"
#undef PARAMS
#undef APPLIES
#undef SCRATCH
#undef EFFICIENCY
#undef ERROR
#undef LAUNCH

template <class Line> static Line makeLine(const int *params) {
  Line line;
  if constexpr (!std::is_empty_v<Line>)
    std::memcpy(&line, params, sizeof(Line));
  return line;
}
template <class Line, class Shape>
static bool appliesTo(const void *shape, const int *params) {
  return makeLine<Line>(params).applies(*static_cast<const Shape *>(shape));
}
template <class Line, class Shape>
static int64_t scratchBytes(const void *shape, const int *params, int threads) {
  return makeLine<Line>(params).scratch(*static_cast<const Shape *>(shape),
                                        threads);
}
template <class Line, class Shape>
static double efficiency(const void *shape, const int *params,
                         const core_limits &core) {
  return makeLine<Line>(params).efficiency(*static_cast<const Shape *>(shape),
                                           core);
}
template <class Line, class Shape>
static double error(const void *shape, const int *params) {
  return makeLine<Line>(params).error(*static_cast<const Shape *>(shape));
}

template <class Line, class Shape>
static std::optional<launch_size> launch(const void *shape, const int *params) {
  return makeLine<Line>(params).launch(*static_cast<const Shape *>(shape));
}

static SmallVector<StringRef> splitNames(StringRef text) {
  SmallVector<StringRef> names;
  for (StringRef name : llvm::split(text, ','))
    if (!name.trim().empty())
      names.push_back(name.trim());
  return names;
}

using Lists = std::initializer_list<std::initializer_list<int64_t>>;

static Routine makeRoutine(const Family *family, StringRef name,
                           StringRef header, StringRef isa, StringRef types,
                           StringRef layouts, StringRef params,
                           Lists candidates) {
  Routine routine{name, header, isa, family, {}, {}, {}, {},
                  {},   {},     {},  {},     {}, {}, {}};
  SmallVector<StringRef> names = splitNames(types);
  routine.elements = names.front();
  routine.otherElements = names.size() > 2 ? names[1] : names.front();
  if (names.size() > 1)
    routine.sums = names.back();
  routine.layouts = splitNames(layouts);
  routine.params = splitNames(params);
  for (const auto &values : candidates)
    routine.candidates.emplace_back(values);
  if (routine.params.empty() && routine.candidates.empty())
    routine.candidates.emplace_back();
  return routine;
}

Catalogue::Catalogue() {
#define TYPES(...) #__VA_ARGS__
#define LAYOUTS(...) #__VA_ARGS__
#define PARAMS(...) #__VA_ARGS__
#define CANDIDATES(...) {__VA_ARGS__}
#define APPLIES(...) 0
#define SCRATCH(...) 0
#define EFFICIENCY(...) 0
#define ERROR(...) 0
  // Two levels of macros, so that macros in the arguments are expanded.
#define NNC_ADD(FAMILY, NAME, HEADER, ISA, TYPES, LAYOUTS, PARAMS, ...)        \
  routines.push_back(makeRoutine(findFamily(#FAMILY), #NAME, HEADER, #ISA,     \
                                 TYPES, LAYOUTS, PARAMS, __VA_ARGS__));        \
  routines.back().appliesTo = appliesTo<NAME##_line, FAMILY##_shape>;          \
  routines.back().scratchBytes = scratchBytes<NAME##_line, FAMILY##_shape>;    \
  routines.back().efficiency = efficiency<NAME##_line, FAMILY##_shape>;        \
  routines.back().error = error<NAME##_line, FAMILY##_shape>;                  \
  routines.back().launch = launch<NAME##_line, FAMILY##_shape>;
#define NNC_ROUTINE(FAMILY, NAME, HEADER, ISA, TYPES, LAYOUTS, PARAMS,         \
                    CANDIDATES, ...)                                           \
  NNC_ADD(FAMILY, NAME, HEADER, ISA, TYPES, LAYOUTS, PARAMS, CANDIDATES)
#include "runtime/routines/catalogue/routines.inc"
  llvm::sort(routines, [](const Routine &a, const Routine &b) {
    return std::tie(a.family->name, a.name) < std::tie(b.family->name, b.name);
  });
}

const Catalogue &Catalogue::get() {
  static const Catalogue catalogue;
  return catalogue;
}

const Routine *Catalogue::findRoutine(StringRef name) const {
  const Routine *found =
      llvm::find_if(routines, [&](const Routine &r) { return r.name == name; });
  return found == routines.end() ? nullptr : found;
}

StringRef Catalogue::getHeaderOf(StringRef function) const {
  return llvm::StringSwitch<StringRef>(function)
#define NNC_ELEMENTWISE(name, tensors, scalars, header) .Case(#name, header)
#include "runtime/routines/elementwise/functions.inc"
      // Functions of nn.requantize have parameters, unlike all others.
      .StartsWith("requantize_", "runtime/simd/requantize.h")
      .Default("");
}

SmallVector<const Routine *> Catalogue::getRoutinesOf(StringRef family) const {
  SmallVector<const Routine *> found;
  for (const Routine &routine : routines)
    if (routine.family->name == family)
      found.push_back(&routine);
  return found;
}

//===----------------------------------------------------------------------===//
// Routine
//===----------------------------------------------------------------------===//

static SmallVector<int> toInts(ArrayRef<int64_t> params) {
  return SmallVector<int>(params.begin(), params.end());
}

bool Routine::applies(const RoutineShape &shape,
                      ArrayRef<int64_t> values) const {
  return &shape.getFamily() == family && values.size() == params.size() &&
         appliesTo(shape.get(), toInts(values).data());
}

int64_t Routine::getScratchBytes(const RoutineShape &shape,
                                 ArrayRef<int64_t> values, int threads) const {
  return scratchBytes(shape.get(), toInts(values).data(), threads);
}

double Routine::getEfficiency(const RoutineShape &shape,
                              ArrayRef<int64_t> values,
                              const core_limits &core) const {
  return efficiency(shape.get(), toInts(values).data(), core);
}

std::optional<launch_size> Routine::getLaunch(const RoutineShape &shape,
                                              ArrayRef<int64_t> values) const {
  return launch(shape.get(), toInts(values).data());
}

double Routine::getError(const RoutineShape &shape,
                         ArrayRef<int64_t> values) const {
  return error(shape.get(), toInts(values).data());
}

namespace {
/// A line of runtime/routines/costs/code.inc.
struct CodeLine {
  StringRef routine;
  int64_t param; ///< the first parameter, or -1
  int64_t constant, sized, shared;
};
} // namespace

/// Returns the line of a routine with these parameters; null if there is none.
static const CodeLine *findCode(StringRef routine, ArrayRef<int64_t> values) {
  static constexpr CodeLine lines[] = {
#define NNC_CODE(routine, param, constant, sized, shared)                      \
  {#routine, param, constant, sized, shared},
#include "runtime/routines/costs/code.inc"
  };
  const int64_t param = values.empty() ? -1 : values.front();
  for (const CodeLine &line : lines)
    if (line.routine == routine && line.param == param)
      return &line;
  return nullptr;
}

std::optional<int64_t> Routine::getCodeBytes(ArrayRef<int64_t> values,
                                             bool hasConstantSizes) const {
  const CodeLine *line = findCode(name, values);
  if (!line)
    return std::nullopt;
  return hasConstantSizes ? line->constant : line->sized;
}

int64_t Routine::getSharedCodeBytes(ArrayRef<int64_t> values) const {
  const CodeLine *line = findCode(name, values);
  return line ? line->shared : 0;
}

StringRef Routine::getLayout(int64_t i) const {
  if (i < 0)
    return layouts.back();
  // A concat has any number of inputs and calls its routine once for each.
  bool isOnly = family->inputs == 1;
  return family->inputs < 0 || isOnly ? layouts.front() : layouts[i];
}

bool Routine::takesElement(Type type, int64_t i) const {
  StringRef taken = i == 0 ? elements : otherElements;
  auto integer = dyn_cast<IntegerType>(type);
  if (taken == "any")
    return true;
  if (taken == "number")
    return !nn::isHalf(type);
  if (taken == "integer")
    return integer && integer.getWidth() <= 32;
  if (taken == "narrow")
    return integer && (integer.getWidth() == 8 || type.isSignlessInteger(16));
  if (taken == "byte")
    return integer && integer.getWidth() == 8;
  if (type.isUnsignedInteger())
    return taken == "u" + std::to_string(integer.getWidth());
  std::string own;
  llvm::raw_string_ostream stream(own);
  stream << type;
  return taken == own;
}

bool Routine::takesSums(Type type) const {
  std::string own;
  llvm::raw_string_ostream stream(own);
  if (type)
    stream << type;
  return sums == own;
}
