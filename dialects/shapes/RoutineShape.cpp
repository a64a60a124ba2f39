//===- RoutineShape.cpp - The shape of a call as its family's struct ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/shapes/RoutineShape.h"

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static SmallVector<Family, 0> makeFamilies() {
  SmallVector<Family, 0> families;
  auto add = [&](StringRef name, int inputs, int outputs, int axis,
                 int noEpilogue) {
    families.push_back(
        {name, inputs, outputs,
         axis == noEpilogue ? std::nullopt : std::optional<int>(axis)});
  };
#define NNC_FAMILY(name, inputs, outputs, channel_axis)                        \
  add(#name, inputs, outputs, channel_axis, NNC_NO_EPILOGUE);
#include "runtime/routines/catalogue/routines.inc"
  return families;
}

ArrayRef<Family> nnc::getFamilies() {
  static const SmallVector<Family, 0> families = makeFamilies();
  return families;
}

const Family *nnc::findFamily(StringRef name) {
  ArrayRef<Family> families = getFamilies();
  const Family *found =
      llvm::find_if(families, [&](const Family &f) { return f.name == name; });
  return found == families.end() ? nullptr : found;
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

namespace {
/// A visitor of a struct's fields that fills each from the next field of a
/// #nn.shape. The first field that does not fit is the problem.
class FieldReader {
public:
  explicit FieldReader(nn::ShapeAttr shape) : all(shape.getFields()) {}

  void operator()(StringRef name, int &field) {
    if (auto value = take<IntegerAttr>(name, "an integer"))
      field = narrow(name, value.getInt());
  }
  void operator()(StringRef name, float &field) {
    if (auto value = take<FloatAttr>(name, "a real number"))
      field = static_cast<float>(value.getValueAsDouble());
  }
  template <size_t N> void operator()(StringRef name, int (&field)[N]) {
    if (auto list = take<DenseI64ArrayAttr>(name, "a list of integers"))
      fill(name, list, field);
  }
  template <size_t N, size_t M>
  void operator()(StringRef name, int (&field)[N][M]) {
    auto rows = take<ArrayAttr>(name, "a list of lists");
    if (!rows || hasTooMany(name, rows.size(), N))
      return;
    for (auto [row, values] : llvm::zip(field, rows))
      fill(name, cast<DenseI64ArrayAttr>(values), row);
  }

  /// Returns what is wrong, or an empty string; to be called at the end.
  std::string getProblem() const {
    if (!problem.empty() || next == all.size())
      return problem;
    return ("has a field '" + all[next].getName().getValue() +
            "', which the family's struct does not have")
        .str();
  }

private:
  /// Returns the value of the next field, which is to be called `name` and to
  /// be a `Value`; null if it is not, or if there was a problem before.
  template <class Value> Value take(StringRef name, StringRef what) {
    if (!problem.empty())
      return {};
    if (next == all.size() || all[next].getName() != name) {
      report(isGiven(name) ? "has another field in the place of '" + name + "'"
                           : "lacks the field '" + name + "'");
      return {};
    }
    auto value = dyn_cast<Value>(all[next++].getValue());
    if (!value)
      report("has a field '" + name + "' that is not " + what);
    return value;
  }
  bool isGiven(StringRef name) const {
    return llvm::any_of(
        all, [&](NamedAttribute field) { return field.getName() == name; });
  }
  int narrow(StringRef name, int64_t value) {
    if (!llvm::isInt<32>(value))
      report("has a field '" + name + "' of " + Twine(value) +
             ", which does not fit 32 bits");
    return static_cast<int>(value);
  }
  bool hasTooMany(StringRef name, size_t count, size_t most) {
    if (count > most)
      report("has a field '" + name + "' of " + Twine(count) +
             " values; there is room for " + Twine(most));
    return count > most;
  }
  template <size_t N>
  void fill(StringRef name, ArrayRef<int64_t> values, int (&field)[N]) {
    if (!hasTooMany(name, values.size(), N))
      for (auto [entry, value] : llvm::zip(field, values))
        entry = narrow(name, value);
  }
  void report(const Twine &text) {
    if (problem.empty())
      problem = text.str();
  }

  ArrayRef<NamedAttribute> all;
  size_t next = 0;
  std::string problem;
};
} // namespace

template <class Struct>
static RoutineShape readFields(const Family &family, nn::ShapeAttr shape,
                               std::string &problem) {
  auto fields = std::make_shared<Struct>();
  FieldReader reader(shape);
  fields->visit([&](const char *name, auto &field) { reader(name, field); });
  problem = reader.getProblem();
  return RoutineShape(family, std::move(fields));
}

/// One reader for each family, in the order of getFamilies().
using ReadFields = RoutineShape (*)(const Family &, nn::ShapeAttr,
                                    std::string &);
static constexpr ReadFields kReadFields[] = {
#define NNC_FAMILY(name, inputs, outputs, channel_axis)                        \
  readFields<name##_shape>,
#include "runtime/routines/catalogue/routines.inc"
};

std::optional<RoutineShape> nnc::readShape(const nn::RoutineCall &call,
                                           std::string *problem) {
  auto refuse = [&](const Twine &text) {
    if (problem)
      *problem = text.str();
    return std::nullopt;
  };
  const Family *family = findFamily(call.family);
  if (!family)
    return refuse("there is no family '" + call.family + "'");
  std::string reason;
  RoutineShape shape =
      kReadFields[family - getFamilies().begin()](*family, call.fields, reason);
  if (!reason.empty())
    return refuse("the shape of a call of '" + call.family + "' " + reason);
  return shape;
}

//===----------------------------------------------------------------------===//
// Limits and codes that the dialect and the structs share
//===----------------------------------------------------------------------===//

static_assert(nn::kMaxRank == max_axes,
              "a list in a shape has an entry for each axis of a tensor");
static_assert(nn::kMaxElementwiseOperands == max_elementwise_inputs,
              "elementwise_shape has strides for each operand of a layer");

static_assert(nn::kMostJoined == max_joined,
              "join_shape has a width for each operand of a concatenation");

static constexpr bool isSame(nn::InnerActivation ours, inner_activation given) {
  return static_cast<int>(ours) == static_cast<int>(given);
}
static_assert(isSame(nn::InnerActivation::none, inner_activation::none) &&
                  isSame(nn::InnerActivation::relu, inner_activation::relu) &&
                  isSame(nn::InnerActivation::clip, inner_activation::clip) &&
                  isSame(nn::InnerActivation::hard_swish,
                         inner_activation::hard_swish) &&
                  isSame(nn::InnerActivation::silu, inner_activation::silu),
              "a shape's field `activation` is the number of the attribute");
static_assert(nn::getMaxEnumValForInnerActivation() ==
                  static_cast<int>(inner_activation::silu),
              "the runtime knows all activations");
