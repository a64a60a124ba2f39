//===- Generalize.cpp - One program for all sizes -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Generalize.h"

#include "compiler/routines/Catalogue.h"
#include "compiler/sizes/Fields.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/description/Description.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace nnc;

/// The largest number of points at which routines and dimensions are checked.
static constexpr int64_t kPoints = 2048;

static exec::ProgramOp getProgram(ModuleOp module) {
  return *module.getOps<exec::ProgramOp>().begin();
}

namespace {
class Generalizer {
public:
  Generalizer(ArrayRef<ModuleOp> modules, ExpressionFinder &finder, int threads)
      : finder(finder), threads(threads) {
    for (ModuleOp module : modules)
      programs.push_back(getProgram(module));
  }
  LogicalResult run();

private:
  /// Merge corresponding blocks, tensors, loops or calls of all programs into
  /// those of the first program.
  LogicalResult mergeSteps(ArrayRef<Block *> blocks);
  LogicalResult mergeTensor(ArrayRef<Operation *> ops);
  LogicalResult mergeLoop(ArrayRef<Operation *> ops);
  LogicalResult mergeCall(ArrayRef<Operation *> ops);
  /// Checks that a merged call's routine applies to all sizes, or gives the
  /// call another one that does.
  LogicalResult checkCall(exec::CallOp call);
  /// Returns why the call cannot use `routine` at some sizes, or an empty
  /// string.
  std::string findProblem(exec::CallOp call, const Routine &routine);
  LogicalResult checkAttributes(ArrayRef<Operation *> ops);
  LogicalResult fail(Operation *op, const Twine &why) {
    return op->emitError()
           << "varies with the sizes in a way that nnc does not handle: "
           << why;
  }

  SmallVector<exec::ProgramOp> programs;
  ExpressionFinder &finder;
  int threads;
  DenseMap<Value, unsigned> numbers; ///< numbers of places in each program
  unsigned places = 0;
};
} // namespace

/// Returns true for attributes that may differ among programs: those that are
/// merged, figures for reports, and weights, of which those of the largest
/// sizes are kept.
static bool isMerged(Operation *op, StringRef name) {
  return llvm::is_contained({"tensor", "shape", "like", "work", "multiply_adds",
                             "what", "launch", "counters",
                             nn::kDescriptionAttr.data()},
                            name) ||
         (isa<exec::LoopOp>(op) && name == "max") ||
         (isa<exec::WeightOp>(op) &&
          llvm::is_contained({"offset", "value"}, name));
}

LogicalResult Generalizer::checkAttributes(ArrayRef<Operation *> ops) {
  DictionaryAttr first = ops[0]->getAttrDictionary();
  for (Operation *other : ops.drop_front()) {
    for (NamedAttribute attribute : first)
      if (!isMerged(ops[0], attribute.getName()) &&
          other->getAttr(attribute.getName()) != attribute.getValue())
        return fail(ops[0], "'" + attribute.getName().strref() + "' of an " +
                                ops[0]->getName().getStringRef() + " differs");
    for (auto [a, b] : llvm::zip(ops[0]->getOperands(), other->getOperands()))
      if (numbers.lookup(a) != numbers.lookup(b))
        return fail(ops[0], "an operand differs");
  }
  return success();
}

LogicalResult Generalizer::mergeTensor(ArrayRef<Operation *> ops) {
  auto place = cast<exec::PlaceOpInterface>(ops[0]);
  RankedTensorType type = place.getTensor();
  SmallVector<AffineExpr> dims;
  bool varies = false;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    SmallVector<int64_t> sizes;
    for (Operation *op : ops)
      sizes.push_back(
          cast<exec::PlaceOpInterface>(op).getTensor().getDimSize(axis));
    dims.push_back(finder.find(sizes));
    if (!dims.back())
      return fail(ops[0], "dimension " + Twine(axis) + " of '" +
                              place.getName() +
                              "' is no sum of products of the sizes");
    varies |= !isa<AffineConstantExpr>(dims.back());
  }
  if (!varies)
    return success();
  for (const SizePoint &point :
       chooseChecks(finder.getRanges(), kPoints, /*withZeros=*/true))
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      int64_t size = evaluate(dim, point);
      if (size < 0 || size > type.getDimSize(axis))
        return fail(ops[0],
                    "dimension " + Twine(axis) + " of '" + place.getName() +
                        "' is " + Twine(size) + " at some sizes, and " +
                        Twine(type.getDimSize(axis)) + " at the largest");
    }
  auto map =
      AffineMap::get(0, finder.getRanges().size(), dims, ops[0]->getContext());
  ops[0]->setAttr(exec::kDimsAttr, AffineMapAttr::get(map));
  return success();
}

/// Returns a routine without parameters that computes what `routine` does, for
/// tensors in any layout, or null if there is none.
static const Routine *findGeneral(const Routine &routine) {
  for (const Routine *other :
       Catalogue::get().getRoutinesOf(routine.family->name))
    if (other != &routine && other->isa == routine.isa &&
        other->elements == routine.elements &&
        other->otherElements == routine.otherElements &&
        other->sums == routine.sums && other->params.empty() &&
        llvm::all_of(other->layouts,
                     [](StringRef layout) { return layout == "any"; }))
      return other;
  return nullptr;
}

LogicalResult Generalizer::checkCall(exec::CallOp call) {
  const Routine *routine = Catalogue::get().findRoutine(call.getRoutine());
  std::string problem = findProblem(call, *routine);
  // Changes of layout are chosen for the largest sizes alone. At others both
  // layouts may be contiguous along one axis, to which kernels that transpose
  // do not apply.
  const Routine *general = problem.empty() ? nullptr : findGeneral(*routine);
  if (general && routine->isOnBlocks()) {
    call.setRoutine(general->name);
    call.setHeader(general->header);
    call.setParamsAttr(
        nn::ShapeAttr::get(call.getContext(), ArrayRef<NamedAttribute>()));
    call.setLaunch("");
    problem = findProblem(call, *general);
  }
  return problem.empty() ? success() : fail(call, problem);
}

std::string Generalizer::findProblem(exec::CallOp call,
                                     const Routine &routine) {
  SmallVector<int64_t> params;
  for (NamedAttribute param : call.getParams().getFields())
    params.push_back(cast<IntegerAttr>(param.getValue()).getInt());
  int64_t scratch =
      call.getScratch()
          ? exec::getPlaceOp(call.getScratch()).getTensor().getNumElements()
          : 0;
  const std::string what =
      ("the routine " + routine.name + " of '" + call.getName() + "' ").str();
  for (const SizePoint &point : chooseChecks(finder.getRanges(), kPoints)) {
    nn::ShapeAttr fields =
        evaluateFields(call.getShape(), call.getVaryingAttr(), point);
    std::string problem;
    auto shape = readShape({routine.family->name.str(), fields, {}}, &problem);
    if (!shape)
      return problem;
    if (!routine.applies(*shape, params))
      return what + "does not apply to all sizes";
    if (int64_t bytes = routine.getScratchBytes(*shape, params, threads);
        bytes > scratch)
      return what +
             "needs more memory at smaller sizes: " + std::to_string(bytes) +
             " bytes, and " + std::to_string(scratch) + " at others";
  }
  return "";
}

LogicalResult Generalizer::mergeCall(ArrayRef<Operation *> ops) {
  auto call = cast<exec::CallOp>(ops[0]);
  SmallVector<nn::ShapeAttr> shapes;
  for (Operation *op : ops) {
    auto own = cast<exec::CallOp>(op);
    shapes.push_back(own.getShape());
    if (own.getLikeAttr() != call.getLikeAttr())
      call.removeLikeAttr();
  }
  std::string problem;
  auto varying = findVaryingFields(shapes, finder, problem);
  if (failed(varying))
    return fail(call, "'" + call.getName() + "' " + problem);
  if (!*varying)
    return success();
  Builder builder(call.getContext());
  SmallVector<NamedAttribute> fields((*varying).begin(), (*varying).end());
  // Routines test this field to find out whether the whole shape is constant,
  // so that it must vary, too.
  if (auto n = dyn_cast_or_null<IntegerAttr>(call.getShape().get("n"));
      n && !(*varying).contains("n"))
    fields.emplace_back(builder.getStringAttr("n"),
                        AffineMapAttr::get(AffineMap::get(
                            0, finder.getRanges().size(),
                            builder.getAffineConstantExpr(n.getInt()))));
  call.setVaryingAttr(builder.getDictionaryAttr(fields));
  SmallVector<Attribute> sized;
  for (NamedAttribute field : call.getShape().getFields())
    if (call.getVaryingField(field.getName()))
      sized.push_back(field.getName());
  call.setSizedAttr(builder.getArrayAttr(sized));
  return checkCall(call);
}

/// Removes `like` from calls that vary in other fields than the call that they
/// are like.
static void checkLikes(exec::ProgramOp program) {
  llvm::StringMap<exec::CallOp> calls;
  for (auto call : exec::getSteps<exec::CallOp>(program)) {
    if (auto like = call.getLike()) {
      exec::CallOp other = calls.lookup(*like);
      if (!other || other.getLike() || !call.isLike(other))
        call.removeLikeAttr();
    }
    calls[call.getName()] = call;
  }
}

LogicalResult Generalizer::mergeLoop(ArrayRef<Operation *> ops) {
  auto loop = cast<exec::LoopOp>(ops[0]);
  SmallVector<int64_t> runs;
  for (Operation *op : ops)
    runs.push_back(cast<exec::LoopOp>(op).getMax());
  if (llvm::all_equal(runs))
    return success();
  AffineExpr most = finder.find(runs);
  if (!most)
    return fail(loop, "the number of runs of '" + loop.getName() +
                          "' is no sum of products of the sizes");
  loop.setVaryingMaxAttr(
      AffineMapAttr::get(AffineMap::get(0, finder.getRanges().size(), most)));
  return success();
}

/// Returns a description of a step of a program for messages.
static std::string describeStep(Operation *op) {
  std::string kind = op->getName().stripDialect().str();
  StringRef name;
  if (auto place = dyn_cast<exec::PlaceOpInterface>(op))
    name = place.getName();
  else if (auto call = dyn_cast<exec::CallOp>(op))
    name = call.getName();
  else
    name = nn::getModelName(op->getLoc());
  return name.empty() ? kind : kind + " '" + name.str() + "'";
}

LogicalResult Generalizer::mergeSteps(ArrayRef<Block *> blocks) {
  SmallVector<Block::iterator> next;
  for (Block *block : blocks)
    next.push_back(block->begin());
  while (next[0] != blocks[0]->end()) {
    SmallVector<Operation *> ops;
    OperationName kind = next[0]->getName();
    for (auto [block, at] : llvm::zip(blocks, next)) {
      if (at == block->end())
        return fail(&*next[0],
                    describeStep(&*next[0]) + " is not needed at other sizes");
      if (at->getName() != kind)
        return fail(&*next[0], describeStep(&*next[0]) + " is " +
                                   describeStep(&*at) + " at other sizes");
      ops.push_back(&*at);
    }
    for (Block::iterator &at : next)
      ++at;
    if (failed(checkAttributes(ops)))
      return failure();
    if (isa<exec::PlaceOpInterface>(ops[0])) {
      ++places;
      for (Operation *op : ops)
        numbers[op->getResult(0)] = places;
      if (failed(mergeTensor(ops)))
        return failure();
    }
    if (isa<exec::CallOp>(ops[0]) && failed(mergeCall(ops)))
      return failure();
    if (isa<exec::LoopOp>(ops[0]) && failed(mergeLoop(ops)))
      return failure();
    if (!isa<exec::BranchOp, exec::LoopOp>(ops[0]))
      continue;
    for (unsigned i = 0; i < ops[0]->getNumRegions(); ++i) {
      SmallVector<Block *> steps;
      for (Operation *op : ops)
        steps.push_back(&op->getRegion(i).front());
      if (failed(mergeSteps(steps)))
        return failure();
    }
  }
  for (auto [block, at] : llvm::zip(blocks, next))
    if (at != block->end())
      return fail(programs[0],
                  describeStep(&*at) + " is needed at other sizes alone");
  return success();
}

LogicalResult Generalizer::run() {
  SmallVector<Block *> blocks;
  for (exec::ProgramOp program : programs)
    blocks.push_back(&program.getBody().front());
  if (failed(mergeSteps(blocks)))
    return failure();
  checkLikes(programs[0]);
  return verify(programs[0]);
}

LogicalResult nnc::generalize(ArrayRef<ModuleOp> modules,
                              ExpressionFinder &finder, int threads) {
  return Generalizer(modules, finder, threads).run();
}
