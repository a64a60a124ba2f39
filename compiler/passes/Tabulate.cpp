//===- Tabulate.cpp - Expressions of one 8-bit integer become tables ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/routines/Catalogue.h"
#include "dialects/evaluate/Evaluate.h"
#include "dialects/nn/description/Description.h"
#include "dialects/target/Costs.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/SetVector.h"

namespace nnc {
#define GEN_PASS_DEF_TABULATE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Limits on expressions that become tables. Without vectors, fewer than
/// kMinSteps steps are as fast as a table. More than kMaxOps ops are not an
/// expression that a person wrote.
static constexpr size_t kMinSteps = 4, kMaxOps = 64;

static bool isByte(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isInteger(8);
}

/// Returns the one value of a constant as a tensor without axes, or nullopt.
static std::optional<TensorData> getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || dense.empty() || !dense.isSplat())
    return std::nullopt;
  auto type = RankedTensorType::get({}, dense.getElementType());
  return TensorData::get(
      DenseElementsAttr::get(type, dense.getSplatValue<Attribute>()));
}

namespace {
/// The ops that compute a value from a tensor of bytes.
struct Expression {
  llvm::SetVector<Operation *> ops; ///< users before producers
  llvm::SetVector<Value> sources;   ///< the tensors of bytes

  /// Adds the ops that compute `result`, the result of `root`, from tensors of
  /// bytes, which are added to `sources`. Returns false if it depends on
  /// anything else but constants of one value.
  bool add(Operation *root, Value result);
  /// Replaces sources that are results of tables by the operands of these
  /// tables, where possible.
  void followTables();
  /// While there are several sources, replaces the last of them by the sources
  /// of the ops that compute it. Returns false if that fails.
  bool followSources();
  /// Returns the 256 entries of the table, or nullopt if an op cannot be
  /// evaluated.
  std::optional<TensorData> tabulate() const;
};
} // namespace

bool Expression::add(Operation *root, Value result) {
  auto shape = cast<RankedTensorType>(result.getType()).getShape();
  SmallVector<Operation *> rest = {root};
  while (!rest.empty()) {
    Operation *op = rest.pop_back_val();
    if (!isa_and_nonnull<ElementwiseOpInterface>(op) || ops.size() == kMaxOps)
      return false;
    if (!ops.insert(op))
      continue;
    for (Value operand : op->getOperands()) {
      if (getSplat(operand))
        continue;
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || type.getShape() != shape || type.getEncoding())
        return false;
      if (isByte(operand))
        sources.insert(operand);
      else
        rest.push_back(operand.getDefiningOp());
    }
  }
  return true;
}

void Expression::followTables() {
  auto isOnly = [&](Value value) {
    return sources.size() > 1 || value.hasOneUse();
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (Value source : sources) {
      auto table = source.getDefiningOp<LookupOp>();
      if (!table || !isOnly(source))
        continue;
      ops.insert(table);
      sources.remove(source);
      sources.insert(table.getX());
      changed = true;
      break;
    }
  }
}

bool Expression::followSources() {
  while (sources.size() > 1) {
    Value last = sources.front();
    for (Value source : sources) {
      Operation *op = source.getDefiningOp();
      if (op &&
          (!last.getDefiningOp() || last.getDefiningOp()->isBeforeInBlock(op)))
        last = source;
    }
    sources.remove(last);
    if (!add(last.getDefiningOp(), last))
      return false;
  }
  return true;
}

std::optional<TensorData> Expression::tabulate() const {
  Value source = sources.front();
  auto makeType = [](Value like) {
    return RankedTensorType::get({256}, getElementTypeOrSelf(like.getType()));
  };
  llvm::DenseMap<Value, TensorData> values;
  values[source] = TensorData::allocate(makeType(source));
  for (int i = 0; i < 256; ++i)
    values[source].getMutable<uint8_t>()[i] = static_cast<uint8_t>(i);
  SmallVector<Operation *> inOrder(ops.begin(), ops.end());
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : inOrder) {
    SmallVector<TensorData> operands;
    for (Value operand : op->getOperands()) {
      std::optional<TensorData> constant = getSplat(operand);
      operands.push_back(constant ? *constant : values.lookup(operand));
    }
    FailureOr<TensorData> result = evaluate(op, operands);
    if (failed(result) || result->getType() != makeType(op->getResult(0)))
      return std::nullopt;
    values[op->getResult(0)] = *result;
  }
  return values.lookup(inOrder.back()->getResult(0));
}

/// Returns true if the function is expensive to compute, like an exponential.
static bool isExpensive(StringRef function) {
  StringRef header = Catalogue::get().getHeaderOf(function);
  return !header.empty() && header != "runtime/simd/arithmetic.h" &&
         header != "runtime/simd/vec.h";
}

namespace {
/// The costs that decide whether a table is worth it.
struct Costs {
  int64_t lookupCycles; ///< cycles to look up a vector; 0 without vectors
  int64_t longCycles;   ///< cycles of an expensive function of a vector

  explicit Costs(target::MachineAttr machine)
      : lookupCycles(machine.getHost().getLookupCycles()),
        longCycles(machine.getHost().getExponentialCycles()) {}

  bool isWorthIt(const Expression &expression, int64_t elements) const;
};
} // namespace

bool Costs::isWorthIt(const Expression &expression, int64_t elements) const {
  SmallVector<StringRef> steps;
  for (Operation *op : expression.ops)
    llvm::append_range(steps, cast<ElementwiseOpInterface>(op).getSteps());
  bool isLong = llvm::any_of(steps, isExpensive);
  if (!lookupCycles)
    return steps.size() >= kMinSteps && (isLong || elements >= 256);
  double cycles = 0;
  // A table that is merged with the rest is not looked up any more.
  for (Operation *op : expression.ops)
    if (isa<LookupOp>(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
          return expression.ops.contains(user);
        }))
      cycles += double(lookupCycles);
  for (StringRef step : steps)
    cycles += isExpensive(step) ? double(longCycles)
              : step == "div"   ? target::costs::kDivisionCycles
                                : target::costs::kSimpleCycles;
  return elements >= 256 && cycles > double(lookupCycles);
}

/// Replaces the result of `op` by an nn.lookup if that is worthwhile.
static void tabulate(Operation *op, const Costs &costs) {
  if (!isa<ElementwiseOpInterface>(op) || isa<LookupOp>(op) ||
      !isByte(op->getResult(0)))
    return;
  Value result = op->getResult(0);
  Expression expression;
  if (!expression.add(op, result))
    return;
  expression.followTables();
  if (!expression.followSources() || expression.sources.size() != 1 ||
      !costs.isWorthIt(expression, getTensorType(result).getNumElements()))
    return;
  std::optional<TensorData> table = expression.tabulate();
  if (!table)
    return;
  auto entries = cast<DenseIntElementsAttr>(
      DenseElementsAttr::getFromRawBuffer(table->getType(), table->getBytes()));
  OpBuilder builder(op);
  auto lookup = builder.create<LookupOp>(op->getLoc(), result.getType(),
                                         expression.sources.front(), entries);
  SmallVector<Operation *> inOrder(expression.ops.rbegin(),
                                   expression.ops.rend());
  markActivation(lookup.getY(), listFunctions(inOrder));
  result.replaceAllUsesWith(lookup.getY());
}

namespace {
struct TabulatePass : nnc::impl::TabulateBase<TabulatePass> {
  using TabulateBase::TabulateBase;
  void runOnOperation() override {
    auto machine = nnc::target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    bool hasVectors = machine->getHost().getIsas().size() > 1;
    Costs costs(*machine);
    if (hasVectors && !costs.lookupCycles)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Block &block = function.getBody().front();
      for (Operation &op : llvm::make_early_inc_range(block))
        tabulate(&op, costs);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }
};
} // namespace
