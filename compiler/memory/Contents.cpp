//===- Contents.cpp - How ops of a planned function use memory ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Contents.h"

#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"
#include "dialects/shapes/RoutineShape.h"
#include "dialects/target/Target.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the machine for which the module `op`, or the module around it, is
/// compiled, or null.
static target::MachineAttr getMachine(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module
             ? module->getAttrOfType<target::MachineAttr>(target::kTargetAttr)
             : target::MachineAttr();
}

int64_t nnc::getMemoryAlign(Operation *op, StringRef device) {
  target::MachineAttr machine = getMachine(op);
  target::DeviceAttr found =
      machine ? machine.findDevice(device) : target::DeviceAttr();
  return found ? found.getAlign() : int64_t(target::costs::kUsualAlign);
}

int64_t nnc::getProgramAlign(func::FuncOp function) {
  int64_t align = getMemoryAlign(function);
  if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
    for (auto memory : memories.getAsRange<exec::MemoryAttr>())
      align = std::max(align, getMemoryAlign(function, memory.getDevice()));
  return align;
}

StringRef nnc::getDevice(Operation *op) {
  return op->getNumResults() == 0 ? StringRef()
                                  : nn::getDevice(op->getResult(0).getType());
}

int64_t nnc::getBytes(Value value) {
  return getPhysicalBytes(getTensorType(value));
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Adds the moves of which `call` consists: that of a copy that is contiguous
/// on both sides, or those of a concatenation of single rows. Returns false for
/// other calls.
static bool addMoves(const RoutineCall &call, int64_t elementBytes,
                     SmallVectorImpl<Move> &moves) {
  std::optional<RoutineShape> shape = readShape(call);
  if (!shape)
    return false;
  if (const auto *join = shape->getAs<join_shape>()) {
    int64_t offset = 0;
    for (auto [i, operand] : llvm::enumerate(call.operands)) {
      moves.push_back({operand, 0, offset, join->widths[i] * elementBytes});
      offset += moves.back().bytes;
    }
    return join->rows == 1;
  }
  const copy_shape *copy = shape->getAs<copy_shape>();
  if (!copy || copy->rank != 1)
    return false;
  if (copy->dims[0] != 1 &&
      (copy->src_strides[0] != 1 || copy->dst_strides[0] != 1))
    return false;
  moves.push_back({call.operands[0], copy->src_offset * elementBytes,
                   copy->dst_offset * elementBytes,
                   copy->dims[0] * elementBytes});
  return true;
}

/// Returns true if the program of `op` is for a GPU.
static bool isOnGpu(Operation *op) {
  target::MachineAttr machine = getMachine(op);
  return machine && machine.getHost().getKind() == target::DeviceKind::gpu;
}

SmallVector<Move> nnc::getMoves(Operation *op) {
  if (op->getNumResults() != 1 || isa<ControlOpInterface>(op) ||
      op->hasAttr(kCopiesAttr))
    return {};
  RankedTensorType result = getTensorType(op->getResult(0));
  auto adapt = dyn_cast<AdaptOp>(op);
  auto transpose = dyn_cast<TransposeOp>(op);
  if ((adapt && adapt.isView()) || (transpose && transpose.isView()))
    return {{0, 0, 0, getPhysicalBytes(result)}};
  if (auto part = dyn_cast<PartOp>(op))
    return {{0, int64_t(part.getOffset()), 0, getPhysicalBytes(result)}};
  if (auto layer = dyn_cast<LayerOp>(op);
      layer && (!layer.getAnchorOp() || !layer.hasEmptyEpilogue() ||
                isa<PrefixOp>(layer.getAnchorOp())))
    return {};
  SmallVector<Move> moves;
  for (const RoutineCall &call : getRoutineCalls(op))
    if (!addMoves(call, getElementBytes(result.getElementType()), moves))
      return {};
  // Kernels of GPUs access values in chunks, so that each value is aligned.
  constexpr int64_t chunkBytes = 16;
  if (isOnGpu(op) && llvm::any_of(moves, [](const Move &move) {
        return move.source % chunkBytes || move.target % chunkBytes;
      }))
    return {};
  // The offset of a part in a whole depends on the sizes.
  bool isWhole =
      moves.size() == 1 && moves[0].source == 0 && moves[0].target == 0;
  if (op->hasAttr(kVariesAttr) && !isWhole)
    return {};
  return moves;
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Limits on the ranges of a concat. It may have kMaxRanges in all, or
/// kMaxRangesOfPart for each of its operands if that is more.
static constexpr int64_t kMaxRanges = 1024, kMaxRangesOfPart = 4;
/// The largest number of ranges, of 32 bytes each, of all values together.
static constexpr int64_t kMaxRangesInAll = int64_t(1) << 24;

ArrayRef<ByteRange> Contents::store(ByteRanges own) {
  count += own.size();
  return stored.emplace_back(std::move(own));
}

/// Returns the ranges of the result of `op`, which `moves` assemble; an empty
/// list if they exceed the limits above.
ArrayRef<ByteRange> Contents::follow(Operation *op, ArrayRef<Move> moves) {
  int64_t limit =
      std::max<int64_t>(kMaxRanges, kMaxRangesOfPart * moves.size());
  bool isJoin = moves.size() > 1;
  ByteRanges own;
  for (const Move &move : moves) {
    Value operand = op->getOperand(move.operand);
    bool isWhole =
        move.source == 0 && move.target == 0 && move.bytes == getBytes(operand);
    if (isWhole && !isJoin)
      return of(operand);
    for (ByteRange range : of(operand, move.source, move.source + move.bytes)) {
      range.begin += move.target;
      range.end += move.target;
      own.push_back(range);
    }
    int64_t size = own.size();
    if (isJoin && (size > limit || count + size > kMaxRangesInAll))
      return {};
  }
  llvm::sort(own, [](const ByteRange &a, const ByteRange &b) {
    return a.begin < b.begin;
  });
  return store(std::move(own));
}

Contents::Contents(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    ranges[argument] = store({{0, getBytes(argument), argument, 0}});
  add(function);
}

/// Gives each argument of a body that stands for a captured operand the ranges
/// of that operand.
void Contents::addControl(ControlOpInterface op) {
  OperandRange captured = op.getCaptured();
  for (func::FuncOp body : nn::getBodies(op)) {
    unsigned first = body.getNumArguments() - captured.size();
    for (BlockArgument argument : body.getArguments().take_front(first))
      ranges[argument] = store({{0, getBytes(argument), argument, 0}});
    for (auto [argument, operand] :
         llvm::zip_equal(body.getArguments().drop_front(first), captured)) {
      ArrayRef<ByteRange> outside = of(operand);
      ranges[argument] = outside;
    }
    add(body);
  }
}

void Contents::add(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (auto control = dyn_cast<ControlOpInterface>(op))
      addControl(control);
    if (SmallVector<Move> own = nnc::getMoves(&op); !own.empty())
      moves[&op].assign(own.begin(), own.end());
    ArrayRef<Move> known = getMoves(&op);
    for (Value result : op.getResults()) {
      ArrayRef<ByteRange> own =
          known.empty() ? ArrayRef<ByteRange>() : follow(&op, known);
      if (own.empty()) {
        own = store({{0, getBytes(result), result, 0}});
        if (!known.empty())
          copied.insert(result);
      }
      ranges[result] = own;
    }
  }
}

SmallVector<unsigned> nnc::getExchanged(LoopOp loop, Operation *end,
                                        const Contents &contents) {
  SmallVector<unsigned> values;
  Block *body = end->getBlock();
  for (unsigned i = 0; i < loop.getInits().size(); ++i) {
    Value next = end->getOperand(i), own = body->getArgument(1 + i);
    if (contents.of(next) == contents.of(own))
      continue;
    while (Operation *op = next.getDefiningOp()) {
      ArrayRef<Move> moves = contents.getMoves(op);
      if (moves.size() != 1)
        break;
      next = op->getOperand(moves[0].operand);
    }
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getOwner() == body &&
        argument.getArgNumber() < loop.getFirstCaptured())
      values.push_back(i);
  }
  return values;
}

SmallVector<int64_t> nnc::getExchangeOffsets(Operation *end,
                                             ArrayRef<unsigned> values) {
  // The alignment in bytes that copies with vector instructions need.
  constexpr int64_t align = 16;
  SmallVector<int64_t> offsets = {0};
  for (unsigned value : values)
    offsets.push_back(llvm::alignTo(
        offsets.back() + getBytes(end->getOperand(value)), align));
  return offsets;
}

ByteRanges Contents::of(Value value, int64_t begin, int64_t end) const {
  ByteRanges result;
  ArrayRef<ByteRange> all = of(value);
  const ByteRange *first = llvm::partition_point(
      all, [&](const ByteRange &range) { return range.end <= begin; });
  for (const ByteRange &range : llvm::make_range(first, all.end())) {
    int64_t from = std::max(range.begin, begin), to = std::min(range.end, end);
    if (range.begin >= end)
      break;
    if (from >= to)
      continue;
    int64_t origin = range.origin + from - range.begin;
    ByteRange *last = result.empty() ? nullptr : &result.back();
    if (last && last->root == range.root && last->end == from - begin &&
        last->origin + last->end - last->begin == origin)
      last->end = to - begin;
    else
      result.push_back({from - begin, to - begin, range.root, origin});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Operands of layers
//===----------------------------------------------------------------------===//

/// Returns true if each element of a tensor of type `a` has the same offset and
/// size as that of a tensor of type `b`. C++ allows tensors of different types
/// to share memory only if one of them is of a character type.
static bool haveSameBytes(RankedTensorType a, RankedTensorType b) {
  auto isByte = [](RankedTensorType type) {
    return type.getElementType().isInteger(8);
  };
  return a == b || (isByte(a) && isByte(b) && a.getShape() == b.getShape() &&
                    a.getEncoding() == b.getEncoding());
}

bool nnc::readsInPlace(Operation *op, unsigned operand) {
  auto layer = dyn_cast<LayerOp>(op);
  // The elements of a queue are moved towards its start, in ascending order.
  if (layer && operand == 0)
    if (auto push = dyn_cast_or_null<PushOp>(layer.getAnchorOp()))
      return layer.getInputs().front() != layer.getInputs().back();
  if (!layer || operand < layer.getInputs().size())
    return false;
  unsigned extra = operand - layer.getInputs().size();
  if (!haveSameBytes(getTensorType(layer.getExtras()[extra]),
                     layer.getY().getType()))
    return false;
  if (!layer.getAnchorOp())
    return true;
  auto anchor = dyn_cast<RoutineOpInterface>(layer.getAnchorOp());
  return anchor && anchor.takesEpilogue();
}

/// Returns the number of elements from the first to the last, both included,
/// that an elementwise call reads of input `index`.
static int64_t getReach(const RoutineCall &call, unsigned index) {
  std::optional<RoutineShape> read = readShape(call);
  const auto *shape = read ? read->getAs<elementwise_shape>() : nullptr;
  if (!shape)
    return 0; // no routine computes the call, which is reported elsewhere
  int64_t last = 0;
  for (int axis = 0; axis < shape->rank; ++axis)
    last += int64_t(shape->dims[axis] - 1) * shape->strides[index][axis];
  return last + 1;
}

int64_t nnc::getReadBytes(Operation *op, unsigned operand) {
  RankedTensorType type = getTensorType(op->getOperand(operand));
  int64_t bytes = getPhysicalBytes(type);
  auto layer = dyn_cast<LayerOp>(op);
  if (!layer || operand < layer.getInputs().size() || getLayout(type) ||
      !isPadded(layer.getY().getType()))
    return bytes;
  RankedTensorType result = layer.getY().getType();
  unsigned extra = operand - layer.getInputs().size();
  int64_t elements = 0;
  if (!layer.getAnchorOp())
    elements = getReach(layer.getRoutineCalls().front(), extra);
  else if (layer.getExtraKind(extra) == ExtraKind::Channel)
    elements = llvm::alignTo(type.getNumElements(),
                             getBlockSize(result, *layer.getChannelAxis()));
  return std::max(bytes, elements * getElementBytes(type.getElementType()));
}

exec::Pool nnc::getPool(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return getNextValue(function, argument.getArgNumber()) ? exec::Pool::state
                                                         : exec::Pool::input;
}

exec::PlaceAttr nnc::getFinalPlace(func::FuncOp function, unsigned result) {
  MLIRContext *context = function.getContext();
  if (std::optional<unsigned> state = getStateOf(function, result))
    return exec::PlaceAttr::get(context, exec::Pool::state, *state, 0, 0);
  if (auto place = function.getResultAttrOfType<exec::PlaceAttr>(
          result, exec::kPlaceAttr))
    return place;
  return exec::PlaceAttr::get(context, exec::Pool::output, result, 0, 0);
}

SmallVector<unsigned> nnc::getFinishOrder(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<unsigned> order, states;
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    (getStateOf(function, i) ? states : order).push_back(i);
  // A state whose old value is the next value of another state is overwritten
  // after that one.
  auto isRead = [&](unsigned result) {
    exec::PlaceAttr own = getFinalPlace(function, result);
    return llvm::any_of(states, [&](unsigned other) {
      exec::PlaceAttr place = getPlace(end->getOperand(other));
      return other != result && place && place.getPool() == own.getPool() &&
             place.getIndex() == own.getIndex();
    });
  };
  while (!states.empty()) {
    unsigned *next = llvm::find_if_not(states, isRead);
    if (next == states.end())
      next = states.begin(); // states that exchange values have no valid order
    order.push_back(*next);
    states.erase(next);
  }
  return order;
}

exec::PlaceAttr nnc::getPlace(Value value) {
  MLIRContext *context = value.getContext();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (auto staged = function.getArgAttrOfType<exec::PlaceAttr>(
            argument.getArgNumber(), exec::kPlaceAttr))
      return staged;
    return exec::PlaceAttr::get(context, getPool(argument),
                                argument.getArgNumber(), 0, 0);
  }
  Operation *op = value.getDefiningOp();
  if (auto places = op->getAttrOfType<ArrayAttr>(exec::kPlacesAttr))
    return cast<exec::PlaceAttr>(
        places[cast<OpResult>(value).getResultNumber()]);
  auto place = op->getAttrOfType<exec::PlaceAttr>(exec::kPlaceAttr);
  if (!place && op->hasTrait<OpTrait::ConstantLike>())
    return exec::PlaceAttr::get(context, exec::Pool::weight, 0, 0, 0);
  return place;
}
