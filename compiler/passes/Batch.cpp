//===- Batch.cpp - Computes parts of a network on parts of a batch --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The pass creates the function anew from its end. A segment that processes
// fewer samples at a time than the ops after it becomes a loop. The body of
// that loop begins with the segments before it, which are nested loops if they
// process fewer samples still.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/AxisTypes.h"
#include "compiler/passes/BatchSamples.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/passes/Passes.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/layers/Layer.h"

#include "llvm/ADT/SetVector.h"

namespace nnc {
#define GEN_PASS_DEF_BATCH
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
/// Consecutive ops that process `size` samples at a time.
struct Segment {
  ArrayRef<Operation *> ops;
  int64_t size;
};

class Batcher {
public:
  Batcher(func::FuncOp function, const BatchSamples &samples,
          ArrayRef<Segment> segments)
      : function(function), samples(samples), segments(segments) {}
  void run(int64_t count);

private:
  /// Creates the segments up to number `last` for `count` samples. `values`
  /// maps the function's inputs to values for as many samples, and gets the
  /// values of these segments that others read.
  void create(size_t last, int64_t count, OpBuilder &builder,
              IRMapping &values);
  /// Creates a loop that runs the segments up to number `last` on the batch
  /// size of that segment at a time, for `count` samples.
  void createLoop(size_t last, int64_t count, OpBuilder &builder,
                  IRMapping &values);
  func::FuncOp createBody(size_t last, ArrayRef<Value> inputs,
                          ArrayRef<Type> types, ArrayRef<Value> outputs);
  SmallVector<Value> findInputs(size_t last);
  SmallVector<Value> findOutputs(size_t last);
  SmallVector<NamedAttribute> getAttributes();

  func::FuncOp function;
  const BatchSamples &samples;
  ArrayRef<Segment> segments;
};
} // namespace

/// Returns the type of `runs` values of type `part` that are stacked along a
/// new first axis.
static RankedTensorType getRunsType(RankedTensorType part, int64_t runs) {
  SmallVector<int64_t> shape = {runs};
  llvm::append_range(shape, part.getShape());
  return RankedTensorType::get(shape, part.getElementType());
}

/// Returns the function's inputs that the segments up to number `last` read.
SmallVector<Value> Batcher::findInputs(size_t last) {
  llvm::SetVector<Value> inputs;
  for (const Segment &segment : segments.take_front(last + 1))
    for (Operation *op : segment.ops)
      for (Value operand : op->getOperands())
        if (isa<BlockArgument>(operand))
          inputs.insert(operand);
  return inputs.takeVector();
}

/// Returns the values of the segments up to number `last` that the rest of the
/// function reads.
SmallVector<Value> Batcher::findOutputs(size_t last) {
  DenseSet<Operation *> own;
  for (const Segment &segment : segments.take_front(last + 1))
    own.insert(segment.ops.begin(), segment.ops.end());
  SmallVector<Value> outputs;
  for (const Segment &segment : segments.take_front(last + 1))
    for (Operation *op : segment.ops)
      for (Value result : op->getResults())
        if (samples.isSplit(result) &&
            llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return !own.contains(user); }))
          outputs.push_back(result);
  return outputs;
}

/// Returns the discardable attributes of the function, which the functions of
/// loops get, too.
SmallVector<NamedAttribute> Batcher::getAttributes() {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    attributes.push_back(attribute);
  return attributes;
}

func::FuncOp Batcher::createBody(size_t last, ArrayRef<Value> inputs,
                                 ArrayRef<Type> types,
                                 ArrayRef<Value> outputs) {
  int64_t size = segments[last].size;
  MLIRContext *context = function.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(function);
  SmallVector<Type> arguments = {
      RankedTensorType::get({}, builder.getI64Type())};
  llvm::append_range(arguments, types);
  SmallVector<Type> results;
  for (Value output : outputs)
    results.push_back(samples.getType(output, size));
  std::string name =
      (function.getSymName() + "_samples_" + Twine(last + 1)).str();
  auto body = builder.create<func::FuncOp>(
      function.getLoc(), name, FunctionType::get(context, arguments, results),
      getAttributes());
  body.setPrivate();
  builder.setInsertionPointToStart(body.addEntryBlock());
  IRMapping values;
  for (auto [input, argument] :
       llvm::zip_equal(inputs, body.getArguments().drop_front())) {
    unsigned number = cast<BlockArgument>(input).getArgNumber();
    auto given = function.getArgAttrOfType<StringAttr>(number, nn::kNameAttr);
    std::string taken =
        ("take_" + (given ? given.getValue() : StringRef("input"))).str();
    Location location = input.getLoc();
    nn::LayerOp layer = nn::createAnchorLayer(
        builder, location, taken, samples.getType(input, size),
        {argument, body.getArgument(0)}, [&](ValueRange own) {
          return builder.create<nn::GatherOp>(location, own[0], own[1],
                                              /*axis=*/0);
        });
    values.map(input, layer.getY());
  }
  create(last, size, builder, values);
  SmallVector<Value> given = llvm::map_to_vector(
      outputs, [&](Value output) { return values.lookup(output); });
  builder.create<func::ReturnOp>(function.getLoc(), given);
  return body;
}

void Batcher::createLoop(size_t last, int64_t count, OpBuilder &builder,
                         IRMapping &values) {
  int64_t size = segments[last].size, runs = count / size;
  Location loc = function.getLoc();
  SmallVector<Value> inputs = findInputs(last), outputs = findOutputs(last);
  SmallVector<Value> given;
  SmallVector<Type> types, results;
  for (Value input : inputs) {
    types.push_back(getRunsType(samples.getType(input, size), runs));
    given.push_back(builder.create<nn::ReshapeOp>(input.getLoc(), types.back(),
                                                  values.lookup(input)));
  }
  for (Value output : outputs)
    results.push_back(getRunsType(samples.getType(output, size), runs));
  func::FuncOp body = createBody(last, inputs, types, outputs);
  auto loop = builder.create<nn::LoopOp>(
      loc, results, /*count=*/Value(), /*inits=*/ValueRange(), given,
      body.getSymName(), runs, /*conditional=*/false);
  for (auto [output, y] : llvm::zip_equal(outputs, loop.getYs()))
    values.map(output, builder.create<nn::ReshapeOp>(
                           output.getLoc(), samples.getType(output, count), y));
}

void Batcher::create(size_t last, int64_t count, OpBuilder &builder,
                     IRMapping &values) {
  if (segments[last].size < count)
    return createLoop(last, count, builder, values);
  if (last > 0)
    create(last - 1, count, builder, values);
  for (Operation *op : segments[last].ops)
    if (llvm::any_of(op->getResults(),
                     [&](Value result) { return samples.isSplit(result); }))
      samples.clone(op, count, builder, values);
}

void Batcher::run(int64_t count) {
  OpBuilder builder(function);
  func::FuncOp made = function.cloneWithoutRegions();
  builder.insert(made);
  Block &block = *made.addEntryBlock();
  IRMapping values;
  for (auto [argument, own] :
       llvm::zip_equal(function.getArguments(), block.getArguments())) {
    own.setType(samples.getType(argument, count));
    own.setLoc(argument.getLoc());
    values.map(argument, own);
  }
  builder.setInsertionPointToStart(&block);
  create(segments.size() - 1, count, builder, values);
  Operation *end = samples.clone(function.getBody().front().getTerminator(),
                                 count, builder, values);
  made.setType(builder.getFunctionType(block.getArgumentTypes(),
                                       end->getOperandTypes()));
  function.erase();
}

namespace {
struct BatchPass : nnc::impl::BatchBase<BatchPass> {
  using Base::Base;
  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    auto main = llvm::find_if(
        functions, [](func::FuncOp each) { return !each.isPrivate(); });
    if (main == functions.end() || failed(run(*main)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp function) {
    FailureOr<BatchSamples> found = BatchSamples::find(function, samples);
    if (failed(found))
      return failure();
    int64_t all = count ? int64_t(count) : int64_t(samples);
    SmallVector<Operation *> ops = getLayerOrder(function);
    SmallVector<Segment> segments;
    SmallVector<int64_t> ends(cuts.begin(), cuts.end());
    ends.push_back(int64_t(ops.size()));
    SmallVector<int64_t> own(sizes.begin(), sizes.end());
    if (own.empty() && ends.size() == 1)
      own.push_back(all);
    int64_t begin = 0;
    bool isSound = own.size() == ends.size();
    for (size_t i = 0; isSound && i < own.size(); ++i) {
      int64_t next = i + 1 < own.size() ? own[i + 1] : all;
      isSound = ends[i] >= begin && ends[i] <= int64_t(ops.size()) &&
                own[i] > 0 && next % own[i] == 0;
      if (isSound)
        segments.push_back(
            {ArrayRef(ops).slice(begin, ends[i] - begin), own[i]});
      begin = ends[i];
    }
    if (!isSound)
      return function.emitError("needs a size for each segment that divides "
                                "the next one and, at last, ")
             << all << ", and cuts in order among its " << ops.size() << " ops";
    Batcher(function, *found, segments).run(all);
    return success();
  }
};
} // namespace
