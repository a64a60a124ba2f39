//===- NnAttributeRules.cpp - Who may carry which attribute of nn ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/attributes/AttributeRules.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/target/Target.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Holders
//===----------------------------------------------------------------------===//

static constexpr HolderSet onLayer = {isOneOf<LayerOp>, "an nn.layer"};
static constexpr HolderSet onPrefix = {isOneOf<PrefixOp>, "an nn.prefix"};
static constexpr HolderSet onEmptyConstant = {
    [](const AttributeHolder &holder) {
      return isOneOf<ConstantOp>(holder) &&
             cast<ConstantOp>(holder.op).getValue().getNumElements() == 0;
    },
    "an nn.constant without elements"};
static constexpr HolderSet onCast = {isOneOf<UnrealizedConversionCastOp>,
                                     "a builtin.unrealized_conversion_cast"};
static constexpr HolderSet onProduct = {
    isOneOf<ConvOp, ConvTransposeOp, MatMulOp, StoredConvOp, StoredMatMulOp>,
    "a convolution or matrix product"};
static constexpr HolderSet onNnOp = {[](const AttributeHolder &holder) {
                                       return holder.isOp() &&
                                              llvm::isa_and_nonnull<NnDialect>(
                                                  holder.op->getDialect());
                                     },
                                     "an op of nn"};
static constexpr HolderSet onCall = {
    [](const AttributeHolder &holder) {
      // The ops of exec are not known here.
      return holder.isOp() &&
             holder.op->getName().getStringRef() == "exec.call";
    },
    "an exec.call"};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// The dialect target cannot depend on this dialect, so that it has its own copy
// of the name.
static_assert(std::string_view(kTargetAttr) ==
              std::string_view(target::kTargetAttr));
static constexpr ValueSet aMachine = {isKind<target::MachineAttr>,
                                      "a #target.machine"};
static constexpr ValueSet someTexts = {isArrayOf<StringAttr>,
                                       "an array of texts"};
static constexpr ValueSet namedTexts = {
    [](Attribute value) {
      auto texts = dyn_cast<DictionaryAttr>(value);
      return texts && llvm::all_of(texts, [](NamedAttribute entry) {
               return isa<StringAttr>(entry.getValue());
             });
    },
    "a dictionary of texts"};
static constexpr ValueSet twoCounts = {
    [](Attribute value) {
      auto counts = dyn_cast<DenseI64ArrayAttr>(value);
      return counts && counts.size() == 2 && counts[0] >= 0 && counts[1] >= 0;
    },
    "an array<i64> of two numbers from 0 on"};
static constexpr ValueSet tensorElements = {isKind<ElementsAttr>,
                                            "the elements of a tensor"};
static constexpr ValueSet shapeArray = {isArrayOf<ShapeAttr>,
                                        "an array of #nn.shape"};

/// Returns true if `value` is an array of lists of pairs.
template <class List> static bool areLists(Attribute value, bool isOnePair) {
  return isArrayOf<List>(value) &&
         llvm::all_of(cast<ArrayAttr>(value), [&](Attribute each) {
           size_t size = cast<List>(each).size();
           return isOnePair ? size == 2 : size % 2 == 0;
         });
}
static constexpr ValueSet aFront = {[](Attribute value) {
                                      return areLists<DenseF64ArrayAttr>(
                                          value, /*isOnePair=*/true);
                                    },
                                    "an array of array<f64: BYTES, SECONDS>"};
static constexpr ValueSet varyingAxes = {
    [](Attribute value) {
      return areLists<DenseI64ArrayAttr>(value, /*isOnePair=*/false);
    },
    "an array with an array<i64> of pairs, an axis and a divisor, for each "
    "value"};

/// Returns true if a dictionary has an integer for each of these names.
static bool hasIntegers(DictionaryAttr dictionary, ArrayRef<StringRef> names) {
  return llvm::all_of(names, [&](StringRef name) {
    Attribute value = dictionary.get(name);
    return value && anInteger.contains(value);
  });
}
static constexpr ValueSet aPlan = {
    [](Attribute value) {
      auto plan = dyn_cast<DictionaryAttr>(value);
      return plan && hasIntegers(plan, {"ns", "bound_ns"}) &&
             plan.getAs<StringAttr>("solver");
    },
    "a dictionary with the numbers 'ns' and 'bound_ns' and the text 'solver'"};
static constexpr ValueSet aDescription = {
    [](Attribute value) {
      auto parts = dyn_cast<DictionaryAttr>(value);
      Attribute groups = parts ? parts.get("groups") : Attribute();
      return parts && parts.getAs<StringAttr>("operation") &&
             (!groups || isIntegerFrom(groups, 1)) &&
             llvm::all_of(ArrayRef<StringRef>{"before", "after"},
                          [&](StringRef steps) {
                            Attribute texts = parts.get(steps);
                            return !texts || isArrayOf<StringAttr>(texts);
                          });
    },
    "a dictionary with the parts of a description"};
static constexpr ValueSet aList = {isKind<ArrayAttr>, "a list"};
static constexpr ValueSet someIntegers = {isKind<DenseI64ArrayAttr>,
                                          "an array of i64"};
static constexpr ValueSet aPairCost = {
    [](Attribute value) {
      auto cost = dyn_cast<DictionaryAttr>(value);
      return cost && hasIntegers(cost, {"apart_ns", "one_ns"});
    },
    "a dictionary with the numbers 'apart_ns' and 'one_ns'"};

//===----------------------------------------------------------------------===//
// Checks that depend on the holder
//===----------------------------------------------------------------------===//

static LogicalResult verifyState(const AttributeHolder &holder, Attribute) {
  return nn::verifyState(cast<FunctionOpInterface>(holder.op), holder.number);
}

static LogicalResult verifyInitial(const AttributeHolder &holder, Attribute) {
  if (cast<FunctionOpInterface>(holder.op).getArgAttr(holder.number,
                                                      kStateAttr))
    return success();
  return holder.emitError() << "has '" << kInitialAttr << "' without '"
                            << kStateAttr << "'; only state has a first value";
}

/// Checks that there is a list of axes for each operand and for the result, and
/// that these tensors have the listed axes.
static LogicalResult verifyAxes(const AttributeHolder &holder,
                                Attribute value) {
  SmallVector<Type> types(holder.op->getOperandTypes());
  llvm::append_range(types, holder.op->getResultTypes());
  auto lists = cast<ArrayAttr>(value);
  if (lists.size() != types.size())
    return holder.emitError() << "needs a list of axes for each of "
                              << types.size() << " operands and results in '"
                              << kVaryingAxesAttr << "', not " << lists.size();
  for (auto [type, list] :
       llvm::zip(types, lists.getAsRange<DenseI64ArrayAttr>())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (ArrayRef<int64_t> rest = list.asArrayRef(); tensor && !rest.empty();
         rest = rest.drop_front(2))
      if (rest[0] < 0 || rest[0] >= tensor.getRank() || rest[1] < 0)
        return holder.emitError()
               << "has the axis " << rest[0] << " with the divisor " << rest[1]
               << " in '" << kVaryingAxesAttr << "', which " << tensor
               << " does not have";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static constexpr AttributeRule nnRules[] = {
    {kActivationAttr, onValue, filledText},
    {kAlwaysEmptyAttr, onEmptyConstant, noValue},
    {kBatchOpAttr, onInnerOp, aCount},
    {kByteWeightsAttr, onProduct, noValue},
    {kBytesNeedRamAttr, onProduct, noValue},
    {kCopiesAttr, onLayer, noValue},
    {kCustomFilesAttr, onModule, namedTexts},
    {kDescriptionAttr, onCall, aDescription},
    {kExpandedAttr, onLayer, aPairCost},
    {kFloatConstantsAttr, onModule, aCount},
    {kHalfConstantsAttr, onModule, twoCounts},
    {kInitialAttr, onArgument, tensorElements, verifyInitial},
    {kKeptWeightsAttr, onModule, someTexts},
    {kLargestAttr, onModule, someIntegers},
    {kLinkAttr, onPrefix, noValue},
    {kModelAttr, onModule, anyText},
    {kModelTypeAttr, onPort, filledText},
    {kNameAttr, onArgumentOrResult, anyText},
    {kNumberAttr, onInnerOp, aCount},
    {kOtherShapesAttr, onLayer, shapeArray},
    {kPlanAttr, onFunction, aPlan},
    {kRolesAttr, onCall, someTexts},
    {kScalingAttr, onLayer, aPairCost},
    {kSeparableAttr, onLayer, aPairCost},
    {kSha256Attr, onModule, anyText},
    {kSizeAttr, onResult, aCount},
    {kSizesAttr, onModule, aList},
    {kSizesComputedAttr, onModule, aList},
    {kSizesWithinAttr, onModule, someIntegers},
    {kStateAttr, onArgument, anInteger, verifyState},
    {kStoredNsAttr, onModule, anInteger},
    {kSumsAttr, onModule, aList},
    {kTargetAttr, onModule, aMachine},
    {kTextsAttr, onCast, someTexts},
    {kVariesAttr, onNnOp, noValue},
    {kVaryingAxesAttr, onLayer, varyingAxes, verifyAxes},
    {kWeightsFrontAttr, onModule, aFront},
};

LogicalResult NnDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return verifyAttribute(nnRules, {op}, attribute);
}

LogicalResult NnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned argument,
                                                  NamedAttribute attribute) {
  return verifyAttribute(
      nnRules, {op, AttributeHolder::Kind::argument, argument}, attribute);
}

LogicalResult NnDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned result,
                                                     NamedAttribute attribute) {
  return verifyAttribute(nnRules, {op, AttributeHolder::Kind::result, result},
                         attribute);
}
