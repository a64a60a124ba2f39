//===- VaryingLayers.cpp - One network compiled for several sizes ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/VaryingLayers.h"

#include "compiler/memory/Contents.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Schema.h"
#include "compiler/sizes/Fields.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/Resource.h"
#include "dialects/nn/tensors/TensorData.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <numeric>

using namespace mlir;
using namespace nnc;

/// Returns all functions of a module: the network and the bodies of its
/// branches and loops.
static SmallVector<func::FuncOp> getFunctions(ModuleOp module) {
  return llvm::to_vector(module.getOps<func::FuncOp>());
}

static std::string describeOp(Operation *op) {
  if (auto layer = dyn_cast<nn::LayerOp>(op))
    return ("layer '" + layer.getName() + "'").str();
  StringRef name = nn::getModelName(op->getLoc());
  std::string kind = op->getName().stripDialect().str();
  return name.empty() ? kind : kind + " '" + name.str() + "'";
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {
/// A comparison of two functions op by op.
class Comparison {
public:
  Comparison(func::FuncOp plan, func::FuncOp sample)
      : plan(plan), sample(sample) {}
  /// Compares the functions. Fails with an error at the first difference other
  /// than a number.
  LogicalResult run();

private:
  LogicalResult compareBlocks(Block &a, Block &b, Operation *at);
  LogicalResult compareOps(Operation *a, Operation *b, Operation *at);
  void compareConstants(nn::ConstantOp a, nn::ConstantOp b);
  LogicalResult fail(Operation *at, const Twine &why) {
    return at->emitError()
           << "varies with the sizes in a way that nnc does not handle: "
           << describeOp(at) << " " << why;
  }

  func::FuncOp plan, sample;
  DenseMap<Value, Value> same;
  /// The resources of the sample's constants that were replaced by those of the
  /// plan.
  SetVector<DenseResourceElementsAttr> unused;
};
} // namespace

static std::string describeType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isOfOneKind(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  if (!x || !y)
    return a == b;
  return x.getElementType() == y.getElementType() &&
         x.getRank() == y.getRank() && x.getEncoding() == y.getEncoding();
}

/// Returns true if two attributes are equal except for integers and shapes.
static bool isOfOneKind(Attribute a, Attribute b) {
  // Dictionaries only hold information for reports.
  if (a == b || (isa_and_nonnull<DictionaryAttr>(a) &&
                 isa_and_nonnull<DictionaryAttr>(b)))
    return true;
  if (!a || !b || a.getTypeID() != b.getTypeID())
    return false;
  if (auto x = dyn_cast<DenseI64ArrayAttr>(a))
    return x.size() == cast<DenseI64ArrayAttr>(b).size();
  if (auto x = dyn_cast<TypeAttr>(a))
    return isOfOneKind(x.getValue(), cast<TypeAttr>(b).getValue());
  if (auto x = dyn_cast<ArrayAttr>(a))
    return x.size() == cast<ArrayAttr>(b).size() &&
           llvm::all_of(llvm::zip(x, cast<ArrayAttr>(b)), [](auto pair) {
             return isOfOneKind(std::get<0>(pair), std::get<1>(pair));
           });
  auto x = dyn_cast<IntegerAttr>(a);
  return x && x.getType() == cast<IntegerAttr>(b).getType();
}

/// Makes equal constants share their memory. Constants may have different
/// elements; see shareConstants().
void Comparison::compareConstants(nn::ConstantOp a, nn::ConstantOp b) {
  auto ofA = TensorData::get(a.getValue()), ofB = TensorData::get(b.getValue());
  if (a.getValue() == b.getValue() || a.getType() != b.getType() || !ofA ||
      !ofB || ofA->getBytes() != ofB->getBytes())
    return;
  // One copy of equal weights is enough.
  auto resource = dyn_cast<DenseResourceElementsAttr>(b.getValue());
  b.setValueAttr(a.getValueAttr());
  if (resource)
    unused.insert(resource);
}

LogicalResult Comparison::compareOps(Operation *a, Operation *b,
                                     Operation *at) {
  if (a->getName() != b->getName() ||
      a->getNumOperands() != b->getNumOperands() ||
      a->getNumResults() != b->getNumResults() ||
      a->getNumRegions() != b->getNumRegions())
    return fail(at, "is another operation at other sizes");
  for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands()))
    if (same.lookup(x) != y)
      return fail(at, "has other operands at other sizes");
  for (auto [x, y] : llvm::zip(a->getResults(), b->getResults())) {
    if (!isOfOneKind(x.getType(), y.getType()))
      return fail(at, "is " + describeType(x.getType()) + ", and " +
                          describeType(y.getType()) + " at other sizes");
    same[x] = y;
  }
  if (auto constant = dyn_cast<nn::ConstantOp>(a))
    return compareConstants(constant, cast<nn::ConstantOp>(b)), success();
  if (isa<nn::CustomOp, nn::PartOp>(a))
    return a->getResultTypes() == b->getResultTypes()
               ? success()
               : fail(at, "is a custom operator, which takes no such sizes");
  // Literals may have different values; see shareConstants().
  if (isa<arith::ConstantOp>(a))
    return success();
  DictionaryAttr ofA = a->getAttrDictionary(), ofB = b->getAttrDictionary();
  auto layer = dyn_cast<nn::LayerOp>(a->getParentOp());
  bool isExpression = layer && a->getParentRegion() == &layer.getEpilogue();
  if (isExpression && ofA != ofB)
    return fail(at, "computes with another number at other sizes");
  for (NamedAttribute attribute : ofB)
    if (!isOfOneKind(ofA.get(attribute.getName()), attribute.getValue()))
      return fail(at, "has another value of '" + attribute.getName().strref() +
                          "' at other sizes");
  for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions())) {
    if (x.empty() != y.empty())
      return fail(at, "is another operation at other sizes");
    if (!x.empty() && failed(compareBlocks(x.front(), y.front(), at)))
      return failure();
  }
  return success();
}

/// Compares two blocks. Errors are reported at `at` or, if it is null, at the
/// op that differs.
LogicalResult Comparison::compareBlocks(Block &a, Block &b, Operation *at) {
  if (a.getNumArguments() != b.getNumArguments())
    return fail(at ? at : plan, "has other operands at other sizes");
  for (auto [x, y] : llvm::zip(a.getArguments(), b.getArguments()))
    same[x] = y;
  auto next = b.begin();
  for (Operation &op : a) {
    if (next == b.end())
      return fail(at ? at : &op, "is not needed at other sizes");
    if (failed(compareOps(&op, &*next++, at ? at : &op)))
      return failure();
  }
  if (next != b.end())
    return fail(at ? at : plan, "has further operations at other sizes");
  return success();
}

LogicalResult Comparison::run() {
  if (plan.getNumArguments() != sample.getNumArguments())
    return fail(plan, "has other inputs at other sizes");
  if (failed(compareBlocks(plan.getBody().front(), sample.getBody().front(),
                           nullptr)))
    return failure();
  for (DenseResourceElementsAttr resource : unused)
    nn::freeResource(resource);
  return success();
}

LogicalResult nnc::compareLayers(ModuleOp plan, ModuleOp sample) {
  auto functions = getFunctions(plan), others = getFunctions(sample);
  if (functions.size() != others.size())
    return plan.emitError() << "varies with the sizes in a way that nnc does "
                               "not handle: it has other branches or loops at "
                               "other sizes";
  for (auto [function, other] : llvm::zip(functions, others))
    if (failed(Comparison(function, other).run()))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

/// Returns the shapes of the calls that compute a layer.
static SmallVector<nn::ShapeAttr> getCallShapes(Operation *op) {
  SmallVector<nn::ShapeAttr> shapes;
  if (auto layer = dyn_cast<nn::LayerOp>(op))
    for (const nn::RoutineCall &call : layer.getRoutineCalls())
      shapes.push_back(call.fields);
  return shapes;
}

/// Returns true if types of the op, or numbers of the calls that compute it,
/// differ between the modules, given the ops of all of them.
static bool hasVaryingNumbers(ArrayRef<Operation *> ops) {
  auto differs = [&](Operation *other) {
    return ops[0]->getOperandTypes() != other->getOperandTypes() ||
           ops[0]->getResultTypes() != other->getResultTypes() ||
           getCallShapes(ops[0]) != getCallShapes(other);
  };
  return llvm::any_of(ops.drop_front(), differs);
}

/// Returns true if the result of an op is the beginning of its operand.
static bool isView(Operation *op) {
  SmallVector<Move> moves = getMoves(op);
  return moves.size() == 1 && moves[0].source == 0 && moves[0].target == 0;
}

/// Makes the finder search for the dimensions of an op's results, since fields
/// of shapes are products of them.
static void noteDimensions(ArrayRef<Operation *> ops,
                           ExpressionFinder &finder) {
  for (unsigned i = 0; i < ops[0]->getNumResults(); ++i)
    for (int64_t axis = 0;
         axis < nn::getTensorType(ops[0]->getResult(i)).getRank(); ++axis) {
      SmallVector<int64_t> sizes;
      for (Operation *op : ops)
        sizes.push_back(nn::getTensorType(op->getResult(i)).getDimSize(axis));
      finder.find(sizes);
    }
}

/// Returns the axes on which the sizes of corresponding values differ, each
/// followed by the greatest common divisor of its size at all sizes.
static DenseI64ArrayAttr listVaryingAxes(ArrayRef<Value> values,
                                         ExpressionFinder &finder) {
  constexpr int64_t kPoints = 256;
  SmallVector<int64_t> pairs;
  ArrayRef<int64_t> first = nn::getTensorType(values[0]).getShape();
  for (size_t axis = 0; axis < first.size(); ++axis) {
    int64_t common = 0;
    bool varies = false;
    SmallVector<int64_t> sizes;
    for (Value value : values) {
      int64_t size = nn::getTensorType(value).getDimSize(axis);
      varies |= size != first[axis];
      common = std::gcd(common, size);
      sizes.push_back(size);
    }
    // A quotient may have few values at the samples.
    if (AffineExpr size = varies ? finder.find(sizes) : AffineExpr())
      for (const SizePoint &point : chooseChecks(finder.getRanges(), kPoints))
        common = std::gcd(common, evaluate(size, point));
    if (varies)
      pairs.append({int64_t(axis), common});
  }
  return DenseI64ArrayAttr::get(values[0].getContext(), pairs);
}

/// Sets the attribute of the first op that tells the choice of routines which
/// axes vary, so that no layout pads them.
static void addAxes(ArrayRef<Operation *> ops, ExpressionFinder &finder) {
  SmallVector<Attribute> axes;
  for (unsigned i = 0; i <= ops[0]->getNumOperands(); ++i) {
    SmallVector<Value> values;
    for (Operation *op : ops)
      values.push_back(i < op->getNumOperands() ? op->getOperand(i)
                                                : op->getResult(0));
    axes.push_back(listVaryingAxes(values, finder));
  }
  ops[0]->setAttr(nn::kVaryingAxesAttr,
                  ArrayAttr::get(ops[0]->getContext(), axes));
}

/// Returns points at which routines are checked before they are chosen: a grid,
/// and for each size a series in which every size is at most 1/32 larger than
/// the one before. Routines cut their work into strips, so that the memory that
/// one needs may be largest where a strip is full, at a size in between.
static std::vector<SizePoint> choosePoints(ArrayRef<SizeRange> ranges) {
  constexpr int64_t kPoints = 256, kGrowth = 32;
  std::vector<SizePoint> points = chooseChecks(ranges, kPoints);
  const SizePoint largest = points.back();
  for (auto [i, range] : llvm::enumerate(ranges)) {
    const int64_t steps = (range.high - range.low) / range.step;
    if (ranges.size() == 1 && steps < kPoints)
      continue; // the grid has all sizes
    for (int64_t step = 0; step <= steps;) {
      SizePoint point = largest;
      int64_t size = range.low + step * range.step;
      point[i] = std::max(size, std::min(range.step, range.high));
      points.push_back(std::move(point));
      step += std::max<int64_t>(1, size / kGrowth / range.step);
    }
  }
  makeConsistent(points, ranges);
  return points;
}

/// Sets the attributes of the first op that tell the choice of routines which
/// other shapes a routine has to apply to, and which axes vary.
static LogicalResult addShapes(ArrayRef<Operation *> ops,
                               ExpressionFinder &finder) {
  auto layer = dyn_cast<nn::LayerOp>(ops[0]);
  if (!layer)
    return success();
  noteDimensions(ops, finder);
  addAxes(ops, finder);
  std::vector<SmallVector<nn::RoutineCall>> calls;
  for (Operation *op : ops)
    calls.push_back(cast<nn::LayerOp>(op).getRoutineCalls());
  // Several calls are copies, which take any shape.
  if (calls[0].size() != 1)
    return success();
  SmallVector<nn::ShapeAttr> shapes;
  for (const auto &own : calls)
    shapes.push_back(own[0].fields);
  std::string problem;
  auto varying = findVaryingFields(shapes, finder, problem);
  if (failed(varying))
    return layer.emitError()
           << "varies with the sizes in a way that nnc does not handle: layer '"
           << layer.getName() << "' " << problem;
  SmallVector<Attribute> all;
  for (const SizePoint &point : choosePoints(finder.getRanges()))
    all.push_back(evaluateFields(shapes[0], *varying, point));
  layer->setAttr(nn::kOtherShapesAttr, ArrayAttr::get(layer.getContext(), all));
  return success();
}

/// Marks the ops of the first of corresponding functions.
static LogicalResult markVarying(ArrayRef<func::FuncOp> functions,
                                 ExpressionFinder &finder) {
  func::FuncOp plan = functions[0];
  Builder builder(plan.getContext());
  SmallVector<Block::iterator> next;
  for (func::FuncOp function : functions)
    next.push_back(function.getBody().front().begin());
  for (int64_t number = 0; next[0] != plan.getBody().front().end(); ++number) {
    SmallVector<Operation *> ops;
    for (Block::iterator &at : next)
      ops.push_back(&*at++);
    ops[0]->setAttr(nn::kNumberAttr, builder.getI64IntegerAttr(number));
    if (!hasVaryingNumbers(ops) || isa<func::ReturnOp>(ops[0]))
      continue;
    ops[0]->setAttr(nn::kVariesAttr, builder.getUnitAttr());
    if (isa<nn::LayerOp>(ops[0]) && !llvm::all_of(ops, isView))
      ops[0]->setAttr(nn::kCopiesAttr, builder.getUnitAttr());
    if (failed(addShapes(ops, finder)))
      return failure();
  }
  return success();
}

LogicalResult nnc::markVarying(ArrayRef<ModuleOp> modules,
                               ExpressionFinder &finder) {
  for (size_t i = 0; i < getFunctions(modules[0]).size(); ++i) {
    SmallVector<func::FuncOp> functions;
    for (ModuleOp module : modules)
      functions.push_back(getFunctions(module)[i]);
    if (failed(::markVarying(functions, finder)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

/// Gives `value` the shape of `from`; its element type and layout stay.
static void setShape(Value value, Value from) {
  if (auto type = dyn_cast<RankedTensorType>(from.getType()))
    value.setType(Schema::of(nn::getTensorType(value)).on(type));
}

/// Returns whether an attribute of an anchor belongs to the form that was
/// chosen for its layer, and not to its sizes: the type in which products are
/// summed, and the number that pads a convolution. A layer that multiplies
/// floats in the place of integers has others than the layer of the sample.
static bool isOfForm(StringRef attribute) {
  return attribute == "accumulator" || attribute == "fill";
}

/// Gives an op and all ops nested in it the shapes and the numbers of `from`.
static void retype(Operation *op, Operation *from) {
  for (NamedAttribute attribute : from->getAttrDictionary())
    if (!isOfForm(attribute.getName()))
      op->setAttr(attribute.getName(), attribute.getValue());
  for (auto [x, y] : llvm::zip(op->getResults(), from->getResults()))
    setShape(x, y);
  auto layer = dyn_cast<nn::LayerOp>(op);
  for (auto [x, y] : llvm::zip(op->getRegions(), from->getRegions())) {
    // Expressions are equal except for casts, which depend on the layer's form.
    if (layer && &x == &layer.getEpilogue())
      continue;
    for (auto [a, b] : llvm::zip(x, y)) {
      for (auto [argument, other] :
           llvm::zip(a.getArguments(), b.getArguments()))
        setShape(argument, other);
      for (auto [nested, other] : llvm::zip(a, b))
        retype(&nested, &other);
    }
  }
}

/// Enlarges the memories of a function so that values may be larger than their
/// places.
static void liftLimits(func::FuncOp function) {
  constexpr int64_t kMuch = int64_t(1) << 40;
  Builder builder(function.getContext());
  function->setAttr(exec::kSampleAttr, builder.getUnitAttr());
  function->setAttr(exec::kArenaAttr, builder.getI64IntegerAttr(kMuch));
  auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr);
  if (!memories)
    return;
  SmallVector<Attribute> large;
  for (auto memory : memories.getAsRange<exec::MemoryAttr>())
    large.push_back(
        exec::MemoryAttr::get(function.getContext(), memory.getName(), kMuch,
                              memory.getSlow(), kMuch, memory.getDevice()));
  function->setAttr(exec::kMemoriesAttr, builder.getArrayAttr(large));
}

/// Gives a planned function the shapes of the function `from`.
static LogicalResult retypeFunction(func::FuncOp function, func::FuncOp from) {
  SmallVector<Operation *> ops;
  for (Operation &op : from.getBody().front())
    ops.push_back(&op);
  for (auto [x, y] : llvm::zip(function.getArguments(), from.getArguments()))
    setShape(x, y);
  for (Operation &op : function.getBody().front()) {
    if (auto number = op.getAttrOfType<IntegerAttr>(nn::kNumberAttr)) {
      // A constant that is stored in a layout is the same at all sizes.
      if (!isa<nn::ConstantOp>(op) || op.hasAttr(nn::kVariesAttr))
        retype(&op, ops[number.getInt()]);
      continue;
    }
    // The stored bytes of a weight are the same at all sizes.
    if (isa<nn::ConstantOp, nn::DecodeOp>(op))
      continue;
    // Ops that passes have added after the layers were formed move or cast a
    // single value.
    RankedTensorType x = nn::getTensorType(op.getOperand(0));
    Value y = op.getResult(0);
    SmallVector<int64_t> shape(x.getShape());
    if (auto transpose = dyn_cast<nn::TransposeOp>(op)) {
      for (auto [i, axis] : llvm::enumerate(transpose.getPermutation()))
        shape[i] = x.getDimSize(axis);
    } else if (auto layer = dyn_cast<nn::LayerOp>(op);
               !isa<nn::AdaptOp>(op) && !(layer && !layer.getAnchorOp())) {
      return op.emitError("is not known to have shapes that vary");
    }
    y.setType(Schema::of(nn::getTensorType(y))
                  .on(RankedTensorType::get(shape, x.getElementType())));
  }
  function.setType(from.getFunctionType());
  return success();
}

LogicalResult nnc::retypeLayers(ModuleOp planned, ModuleOp sample,
                                bool isLarger) {
  for (auto [function, from] :
       llvm::zip_equal(getFunctions(planned), getFunctions(sample))) {
    if (isLarger)
      liftLimits(function);
    if (failed(retypeFunction(function, from)))
      return failure();
  }
  return success();
}
