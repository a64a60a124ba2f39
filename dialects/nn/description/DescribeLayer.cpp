//===- DescribeLayer.cpp - Layers in words --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The description of a layer consists of that of its anchor op and the steps of
// its epilogue. Most ops of an epilogue on quantized numbers only convert
// between scales; they are left out.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/description/Description.h"

#include "dialects/nn/layers/Layer.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc::nn;

/// The largest number of steps of an expression that a description lists.
static constexpr size_t kMaxSteps = 6;

//===----------------------------------------------------------------------===//
// Phrases
//===----------------------------------------------------------------------===//

StringRef nnc::nn::getListEntry(StringRef list, unsigned index) {
  for (; index > 0 && !list.empty(); --index)
    list = list.split(',').second;
  return list.split(',').first;
}

std::string nnc::nn::joinSizes(ArrayRef<int64_t> sizes) {
  return llvm::join(
      llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }),
      " x ");
}

SmallVector<int64_t> nnc::nn::getNamedShape(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout || !layout.getEncoding())
    return getPhysicalShape(type);
  return getPhysicalShape(withLayout(type, layout.getBlocked()));
}

/// Returns ", stride 2", or ", stride 2 x 1" if axes differ, or an empty string
/// if all entries are 1.
static std::string printSteps(StringRef name, ArrayRef<int64_t> steps) {
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return "";
  return (", " + name + " ").str() +
         (llvm::all_equal(steps) ? std::to_string(steps[0]) : joinSizes(steps));
}

/// Returns ", padding 1", or if axes or sides differ ", padding 1 x 2" or ",
/// padding 0 before and 1 behind", or an empty string if all are 0. `pads` has
/// the padding in front of every axis, then the padding behind every axis.
static std::string printPadding(ArrayRef<int64_t> pads) {
  auto print = [](ArrayRef<int64_t> sides) {
    return llvm::all_equal(sides) ? std::to_string(sides[0]) : joinSizes(sides);
  };
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return "";
  ArrayRef<int64_t> before = pads.take_front(pads.size() / 2),
                    behind = pads.drop_front(pads.size() / 2);
  return ", padding " + print(before) +
         (before == behind ? "" : " before and " + print(behind) + " behind");
}

std::string Description::getText() const {
  std::string text;
  for (const std::string &step : before)
    text += step + ", ";
  if (!before.empty())
    text += "then ";
  // A kernel of one axis, or of the whole plane, is not part of the name.
  bool isGlobal = StringRef(operation).starts_with("global ");
  if (kernel.size() > 1 && !isGlobal)
    text += joinSizes(kernel) + " ";
  text += operation;
  if (kernel.size() == 1 && !isGlobal)
    text += " along 1 axis, kernel " + std::to_string(kernel[0]);
  if (!isGlobal)
    text += printSteps("stride", strides) + printPadding(pads);
  text += printSteps("dilation", dilations);
  if (groups > 1)
    text += ", " + std::to_string(groups) + " groups";
  for (const std::string &step : after)
    text += ", " + step;
  return numbers.empty() ? text : text + ", " + numbers;
}

static std::string printNumber(double number) {
  SmallString<24> digits;
  APFloat(static_cast<float>(number))
      .toString(digits, /*FormatPrecision=*/6, /*FormatMaxPadding=*/6);
  return digits.str().str();
}

std::string nnc::nn::describeClip(double low, double high) {
  auto isOpen = [](double bound) { return std::abs(bound) >= 3e38; };
  if (low == 0 && high == 6)
    return "ReLU6";
  if (isOpen(high))
    return low == 0 ? "ReLU" : "clip from " + printNumber(low) + " on";
  if (isOpen(low))
    return "clip up to " + printNumber(high);
  return "clip from " + printNumber(low) + " to " + printNumber(high);
}

/// Returns the words for the type of numbers that a layer works on.
static std::string describeNumbers(Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isBF16())
    return "bfloat16";
  if (isa<FloatType>(element))
    return std::to_string(bits) + "-bit floats";
  if (bits == 1)
    return "bools";
  return bits < 32 ? std::to_string(bits) + " bits"
                   : std::to_string(bits) + "-bit integers";
}

static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// Returns "8 bits", or "8 bits to 32-bit floats" if the types differ.
static std::string describeNumbers(Type from, Type to) {
  std::string first = describeNumbers(from), last = describeNumbers(to);
  return first == last ? first : first + " to " + last;
}

//===----------------------------------------------------------------------===//
// Kinds and attributes
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kKinds[] = {
    "convolution", "product", "pooling", "normalization",
    "elementwise", "move",    "other"};

StringRef nnc::nn::getName(LayerKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

DictionaryAttr Description::toAttr(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> parts;
  auto add = [&](StringRef name, Attribute value) {
    parts.push_back(builder.getNamedAttr(name, value));
  };
  auto addTexts = [&](StringRef name, ArrayRef<std::string> texts) {
    SmallVector<StringRef> list(texts.begin(), texts.end());
    if (!texts.empty())
      add(name, builder.getStrArrayAttr(list));
  };
  auto addSizes = [&](StringRef name, ArrayRef<int64_t> sizes) {
    if (!sizes.empty())
      add(name, builder.getDenseI64ArrayAttr(sizes));
  };
  add("kind", builder.getStringAttr(getName(kind)));
  addTexts("before", before);
  add("operation", builder.getStringAttr(operation));
  addSizes("kernel", kernel);
  addSizes("strides", strides);
  addSizes("dilations", dilations);
  addSizes("pads", pads);
  if (groups > 1)
    add("groups", builder.getI64IntegerAttr(groups));
  addTexts("after", after);
  add("numbers", builder.getStringAttr(numbers));
  return builder.getDictionaryAttr(parts);
}

Description Description::fromAttr(DictionaryAttr attribute) {
  Description said;
  auto getText = [&](StringRef name) {
    auto text = attribute.getAs<StringAttr>(name);
    return text ? text.str() : "";
  };
  auto getTexts = [&](StringRef name) {
    SmallVector<std::string> texts;
    if (auto list = attribute.getAs<ArrayAttr>(name))
      for (StringRef text : list.getAsValueRange<StringAttr>())
        texts.push_back(text.str());
    return texts;
  };
  auto getSizes = [&](StringRef name) {
    auto sizes = attribute.getAs<DenseI64ArrayAttr>(name);
    return sizes ? llvm::to_vector(sizes.asArrayRef()) : SmallVector<int64_t>();
  };
  size_t kind = llvm::find(kKinds, getText("kind")) - kKinds;
  said.kind = kind < std::size(kKinds) ? static_cast<LayerKind>(kind)
                                       : LayerKind::other;
  said.before = getTexts("before");
  said.operation = getText("operation");
  said.kernel = getSizes("kernel");
  said.strides = getSizes("strides");
  said.dilations = getSizes("dilations");
  said.pads = getSizes("pads");
  if (auto groups = attribute.getAs<IntegerAttr>("groups"))
    said.groups = groups.getInt();
  said.after = getTexts("after");
  said.numbers = getText("numbers");
  return said;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// When a description mentions a function; functions.inc defines the cases.
enum class Telling { always, combine, never };

struct FunctionWords {
  StringLiteral function;
  Telling telling;
  StringLiteral words, roles;
};
} // namespace

static constexpr FunctionWords kFunctions[] = {
#define NNC_FUNCTION_WORDS(FUNCTION, TELLING, WORDS, ROLES)                    \
  {FUNCTION, Telling::TELLING, WORDS, ROLES},
#include "dialects/nn/description/functions.inc"
#undef NNC_FUNCTION_WORDS
};

static const FunctionWords *findFunction(StringRef name) {
  const auto *found = llvm::lower_bound(
      kFunctions, name, [](const FunctionWords &row, StringRef name) {
        return row.function < name;
      });
  return found != std::end(kFunctions) && found->function == name ? found
                                                                  : nullptr;
}

std::string nnc::nn::getFunctionWords(StringRef function) {
  if (const FunctionWords *row = findFunction(function))
    return row->words.str();
  std::string words = function.str();
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string nnc::nn::listFunctions(ArrayRef<Operation *> ops) {
  SmallVector<std::string> all;
  for (Operation *op : ops) {
    auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
    if (auto activation = op->getAttrOfType<StringAttr>(kActivationAttr)) {
      all.push_back(activation.str());
    } else if (elementwise) {
      const FunctionWords *row = findFunction(elementwise.getFunction());
      if (!row || row->telling == Telling::always)
        all.push_back(getFunctionWords(elementwise.getFunction()));
    }
  }
  return llvm::join(all, ", ");
}

void nnc::nn::markActivation(Value value, StringRef activation) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (op && !activation.empty())
    op->setAttr(kActivationAttr, StringAttr::get(op->getContext(), activation));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Returns true if the value is a weight, which is known at compile time.
static bool isKnown(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->hasTrait<OpTrait::ConstantLike>() || isa<DecodeOp>(op))
      return true;
    if (!isa<AdaptOp, ReshapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

namespace {
/// The steps of a layer's epilogue, or all steps of an elementwise layer.
class EpilogueSteps {
public:
  explicit EpilogueSteps(LayerOp layer);
  SmallVector<std::string> listSteps() const;

private:
  void addStep(ElementwiseOpInterface op);
  std::string getWords(ElementwiseOpInterface op) const;
  bool isTold(ElementwiseOpInterface op, const FunctionWords *function) const;
  /// Returns true if an operand is known at compile time.
  bool hasWeight(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return getSources(operand) == 0;
    });
  }
  /// Returns the set of inputs of the epilogue on which `value` depends, a bit
  /// for each. Weights are not included.
  uint64_t getSources(Value value) const { return sources.lookup(value); }

  bool hasAnchor, isMixed = false, storesFloats = false;
  /// True if the weights have 8 bits and the epilogue multiplies by their
  /// scale. That multiplication is a part of the product, not a step of its
  /// own.
  bool scalesWeights = false;
  llvm::DenseMap<Value, uint64_t> sources;
  SmallVector<std::string> steps;
};
} // namespace

/// Returns true if `op` quantizes: it is a requantization, or it rounds the
/// product or quotient of a value and a constant.
static bool isQuantization(Operation *op) {
  if (auto requantize = dyn_cast<RequantizeOp>(op))
    return requantize.saturates();
  Operation *scaling =
      isa<RoundOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  return isa_and_nonnull<DivOp, MulOp>(scaling) &&
         !scaling->getOperand(1).getDefiningOp<ElementwiseOpInterface>();
}

EpilogueSteps::EpilogueSteps(LayerOp layer) : hasAnchor(layer.getAnchorOp()) {
  Block &block = layer.getEpilogue().front();
  unsigned first = hasAnchor ? 1 : 0;
  if (hasAnchor)
    sources[block.getArgument(0)] = 1;
  for (auto [i, extra] : llvm::enumerate(layer.getExtras()))
    if (!isKnown(extra))
      sources[block.getArgument(first + i)] = uint64_t(1) << (first + i) % 64;
  llvm::SetVector<Type> types;
  for (Operation &op : block)
    for (Value operand : op.getOperands())
      types.insert(getElement(operand));
  // Quantized numbers may stay floats for the next layer.
  isMixed = types.size() > 1 || llvm::any_of(block, [](Operation &op) {
              return isQuantization(&op);
            });
  storesFloats = isa<FloatType>(getElement(layer.getY()));
  scalesWeights = hasAnchor && layer.getAnchorOp()->hasAttr(kByteWeightsAttr);
  for (Operation &op : block)
    if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
      addStep(elementwise);
}

/// Returns true if a clip keeps floats within the range of the integers that
/// they become.
static bool isSaturation(Operation *op) {
  return isa<ClipOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<CastOp>(user) &&
                  isa<IntegerType>(getElement(user->getResult(0)));
         });
}

bool EpilogueSteps::isTold(ElementwiseOpInterface op,
                           const FunctionWords *function) const {
  if (!function || function->telling == Telling::always)
    return true;
  if (function->telling == Telling::never || isSaturation(op))
    return false;
  // Arithmetic on two values is more than a conversion between scales.
  uint64_t first = 0;
  bool combines = false;
  for (Value operand : op->getOperands()) {
    uint64_t own = getSources(operand);
    combines |= own && first && own != first;
    first = first ? first : own;
  }
  if (combines)
    return true;
  if (isMixed)
    return false;
  if (scalesWeights && isa<MulOp>(*op) && hasWeight(op))
    return false;
  // A layer without a bias is the exception.
  return !hasAnchor || !isa<AddOp, SubOp>(*op) || !hasWeight(op);
}

std::string EpilogueSteps::getWords(ElementwiseOpInterface op) const {
  if (auto clip = dyn_cast<ClipOp>(*op))
    return describeClip(clip.getMin().convertToDouble(),
                        clip.getMax().convertToDouble());
  if (hasAnchor && isa<MulOp, DivOp>(*op) && hasWeight(op))
    return "multiplication by constants";
  return getFunctionWords(op.getFunction());
}

void EpilogueSteps::addStep(ElementwiseOpInterface op) {
  uint64_t all = 0;
  for (Value operand : op->getOperands())
    all |= getSources(operand);
  sources[op->getResult(0)] = all;
  auto add = [&](std::string words) {
    if (steps.empty() || steps.back() != words)
      steps.push_back(std::move(words));
  };
  if (auto activation = op->getAttrOfType<StringAttr>(kActivationAttr))
    add(activation.str());
  else if (storesFloats && isQuantization(op))
    add("quantization");
  else if (isTold(op, findFunction(op.getFunction())))
    add(getWords(op));
}

SmallVector<std::string> EpilogueSteps::listSteps() const {
  if (steps.size() <= kMaxSteps)
    return steps;
  SmallVector<std::string> some(ArrayRef(steps).take_front(kMaxSteps - 1));
  some.push_back(std::to_string(steps.size() - some.size()) +
                 " more operations");
  return some;
}

/// Returns the words for a layer that only converts numbers.
static std::string describeConversion(LayerOp layer, Type from, Type to) {
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 1 &&
           type.getIntOrFloatBitWidth() <= 16;
  };
  auto ops = layer.getEpilogue().front().without_terminator();
  size_t steps = 0;
  for (Operation &op : ops)
    if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
      steps += elementwise.getSteps().size();
  bool scales = steps > 1;
  for (Operation &op : ops)
    if (isa<LookupOp>(op))
      return "table of 256 entries";
  if (isa<FloatType>(from) && isa<FloatType>(to))
    for (Operation &op : ops)
      if (Type stored = getElement(op.getResult(0)); isNarrow(stored))
        return "rounding to " + describeNumbers(stored);
  if (!scales)
    return "conversion";
  if (isNarrow(from) && isNarrow(to))
    return "requantization";
  if (isNarrow(from) && isa<FloatType>(to))
    return "dequantization";
  if (isa<FloatType>(from) && isNarrow(to))
    return "quantization";
  return "conversion";
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Describes an op that a routine computes, without an epilogue.
static Description describeOp(Operation *op, ArrayRef<bool> known) {
  if (auto described = dyn_cast<DescribedOpInterface>(op))
    return described.describe(known);
  Description said;
  said.operation = op->getName().stripDialect().str();
  std::replace(said.operation.begin(), said.operation.end(), '_', ' ');
  return said;
}

static SmallVector<bool> findKnown(ValueRange values) {
  return llvm::map_to_vector(values, isKnown);
}

/// Returns the operand that is the main input of a layer: the first one that is
/// not a weight, otherwise the first weight.
static Value getMainOperand(ValueRange operands) {
  for (Value operand : operands)
    if (!isKnown(operand))
      return operand;
  return operands.empty() ? Value() : operands.front();
}

/// Returns true for an op that moves elements of its first operand; the other
/// operands only tell where to.
static bool isMove(Operation *op) {
  return isa_and_nonnull<GatherOp, PrefixOp, ScatterOp, SliceOp>(op);
}

/// Returns ", weights of 8 bits" if the weights have fewer bits than the values
/// by which they are multiplied.
static std::string describeWeights(LayerOp layer, Type from) {
  auto anchor = dyn_cast_or_null<DescribedOpInterface>(layer.getAnchorOp());
  if (anchor && anchor->hasAttr(kByteWeightsAttr))
    return " with weights of 8 bits";
  if (!anchor || !isa<IntegerType>(from))
    return "";
  for (auto [i, input] : llvm::enumerate(layer.getInputs())) {
    Type weights = getElement(input);
    if (anchor.getOperandRole(i) == "weights" && isKnown(input) &&
        isa<IntegerType>(weights) &&
        weights.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
      return " with weights of " + describeNumbers(weights);
  }
  return "";
}

static Description describeLayer(LayerOp layer) {
  ValueRange operands = layer.getAnchorOp() ? ValueRange(layer.getInputs())
                                            : ValueRange(layer.getExtras());
  Operation *anchor = layer.getAnchorOp();
  Value main = isMove(anchor) ? operands.front() : getMainOperand(operands);
  Type to = getElement(layer.getY()), from = to;
  if (main)
    from = getReadElement(layer, llvm::find(operands, main) - operands.begin());
  SmallVector<std::string> steps = EpilogueSteps(layer).listSteps();
  Description said;
  if (anchor) {
    said = describeOp(anchor, findKnown(layer.getInputs()));
    said.after.append(steps);
  } else {
    said.kind = LayerKind::elementwise;
    said.operation =
        steps.empty() ? describeConversion(layer, from, to) : steps.front();
    if (!steps.empty())
      said.after.append(steps.begin() + 1, steps.end());
  }
  said.numbers = describeNumbers(from, to) + describeWeights(layer, from);
  return said;
}

bool nnc::nn::canBeDescribed(Operation *op) {
  return isa<LayerOp, DescribedOpInterface, RoutineOpInterface>(op);
}

Description nnc::nn::describe(Operation *op) {
  if (auto layer = dyn_cast<LayerOp>(op))
    return describeLayer(layer);
  Description said = describeOp(op, findKnown(op->getOperands()));
  if (auto adapt = dyn_cast<AdaptOp>(op)) {
    auto getName = [](Value value) {
      return getLayout(value.getType()) ? getLayoutName(value.getType())
                                        : std::string("row-major");
    };
    said.operation = "change of layout from " + getName(adapt.getX()) + " to " +
                     getName(adapt.getY());
  }
  if (op->getNumOperands() > 0 && op->getNumResults() > 0)
    said.numbers =
        describeNumbers(getElement(getMainOperand(op->getOperands())),
                        getElement(op->getResult(0)));
  return said;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

std::string nnc::nn::getRoleInEpilogue(BlockArgument argument) {
  Value value = argument;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    // A weight may be converted first.
    if (auto cast = dyn_cast<CastOp>(user); cast && cast->hasOneUse()) {
      OpOperand &next = *cast->use_begin();
      auto op = dyn_cast<ElementwiseOpInterface>(next.getOwner());
      const FunctionWords *function =
          op ? findFunction(op.getFunction()) : nullptr;
      if (function)
        return getListEntry(function->roles, next.getOperandNumber()).str();
    }
    auto op = dyn_cast<ElementwiseOpInterface>(user);
    const FunctionWords *function =
        op ? findFunction(op.getFunction()) : nullptr;
    if (!function)
      continue;
    StringRef role = getListEntry(function->roles, use.getOperandNumber());
    if (!role.empty())
      return role.str();
  }
  return "";
}

std::string nnc::nn::getOperandRole(Operation *op, unsigned operand) {
  auto layer = dyn_cast<LayerOp>(op);
  Operation *anchor = layer ? layer.getAnchorOp() : op;
  unsigned inputs = layer ? layer.getInputs().size() : op->getNumOperands();
  if (operand >= inputs || !anchor) {
    unsigned first = anchor ? 1 : 0;
    return isKnown(op->getOperand(operand))
               ? getRoleInEpilogue(layer.getEpilogue().front().getArgument(
                     first + operand - inputs))
               : "";
  }
  auto described = dyn_cast<DescribedOpInterface>(anchor);
  StringRef role = described ? described.getOperandRole(operand) : StringRef();
  // An operand of a product is called its weights only if it is a constant.
  return role == "weights" && !isKnown(op->getOperand(operand)) ? ""
                                                                : role.str();
}
