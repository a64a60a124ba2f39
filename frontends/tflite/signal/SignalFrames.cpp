//===- SignalFrames.cpp - Signal operators on streams ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/signal/Signal.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

static constexpr StringLiteral kFrames = "nnc_signal_frames.h";

Value convertSignalFramer(Layer &layer) {
  FlexOptions map(layer);
  int64_t size = map.getInt("frame_size", 1, kMaxSamples);
  int64_t step = map.getInt("frame_step", 1, kMaxSamples);
  bool isPrefilled = map.getBool("prefill", /*isNeeded=*/true);
  SignalCall call(layer, 2);
  Value x = call.take(0, SignalCall::I16, SignalCall::kAnyRank);
  if (!x || !map.isSound())
    return {};
  int64_t samples = getShape(x).back(), rows = getNumElements(x) / samples;
  if (samples % step != 0)
    return layer.broken("reads " + Twine(samples) +
                        " samples, which are no multiple of its step of " +
                        Twine(step));
  if (isPrefilled && size < step)
    return layer.broken("has a step of " + Twine(step) +
                        ", which is longer than its frames of " + Twine(size) +
                        ", and cannot fill these before the first run");
  // Prefilled frames begin with zeros and end with the newest sample. Other
  // frames begin with the first sample and have to end at a multiple of the
  // step.
  int64_t reach = isPrefilled ? size : llvm::alignTo(size, step);
  int64_t kept = reach - step;
  SmallVector<int64_t> frames(getShape(x));
  frames.back() = samples / step;
  frames.push_back(size);
  call.read(x);
  call.write(frames, getElement(x));
  call.write({}, call.getBool());
  if (kept > 0)
    call.keep("samples", {rows, kept}, getElement(x));
  if (kept > 0 && !isPrefilled)
    call.keep("frames", {1}, call.getType(SignalCall::I32));
  return call.finish(kFrames, "nnc_signal_framer", {size, step, kept});
}

Value convertSignalDelay(Layer &layer) {
  FlexOptions map(layer);
  int64_t delay = map.getInt("delay_length", 0, kMaxSamples);
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::I16, SignalCall::kAnyRank);
  if (!x || !map.isSound())
    return {};
  call.read(x);
  call.write(getShape(x), getElement(x));
  if (delay > 0)
    call.keep("samples", {getNumElements(x) / getShape(x).back(), delay},
              getElement(x));
  return call.finish(kFrames, "nnc_signal_delay", {delay});
}

Value convertSignalStacker(Layer &layer) {
  FlexOptions map(layer);
  int64_t channels = map.getInt("num_channels", 1, kMaxSamples);
  int64_t past = map.getInt("stacker_left_context", 0, kMaxSamples);
  int64_t future = map.getInt("stacker_right_context", 0, kMaxSamples);
  int64_t count = past + 1 + future;
  int64_t step = map.getInt("stacker_step", 1, count);
  SignalCall call(layer, 2);
  Value x = call.take(0, SignalCall::I16);
  if (!x || !map.isSound())
    return {};
  if (getNumElements(x) != channels)
    return layer.broken("reads " + Twine(getNumElements(x)) +
                        " channels; its option 'num_channels' is " +
                        Twine(channels));
  call.read(x);
  call.write({count * channels}, getElement(x));
  call.write({}, call.getBool());
  if (count > 1)
    call.keep("stacked", {(count - 1) * channels}, getElement(x));
  call.keep("wait", {1}, call.getType(SignalCall::I32));
  return call.finish(kFrames, "nnc_signal_stacker", {count, future, step});
}

Value convertSignalOverlapAdd(Layer &layer) {
  SignalCall call(layer, 1);
  Value x =
      call.take(0, {SignalCall::I16, SignalCall::F32}, SignalCall::kAnyRank);
  if (!x)
    return {};
  if (getRank(x) < 2)
    return layer.broken("has frames of shape " + toString(getShape(x)) +
                        "; needs an axis of frames and one of samples");
  ArrayRef<int64_t> shape = getShape(x);
  int64_t size = shape.back(), frames = shape[shape.size() - 2];
  FlexOptions map(layer);
  int64_t step = map.getInt("frame_step", 1, size);
  if (!map.isSound())
    return {};
  SmallVector<int64_t> joined(shape.drop_back());
  joined.back() = frames * step;
  call.read(x);
  call.write(joined, getElement(x));
  if (size > step)
    call.keep("sums", {getNumElements(x) / (size * frames), size - step},
              getElement(x));
  return call.finish(kFrames,
                     getElement(x).isF32() ? "nnc_signal_overlap_add_f32"
                                           : "nnc_signal_overlap_add_i16",
                     {step});
}

/// Converts CIRCULAR_BUFFER, which appends its input to a queue and returns the
/// queue. In TFLite Micro it ends a run early unless the run is the last one of
/// a cycle of several runs.
Value convertCircularBuffer(Layer &layer) {
  Value x = layer.getInput(0);
  const fb::Tensor *stated = layer.getOutputTensor();
  if (!x || !stated)
    return {};
  SmallVector<int64_t> shape(getList(stated->shape()));
  SmallVector<int64_t> row = shape;
  if (row.size() > 1)
    row[1] = 1;
  if (row.size() != 4 || shape[0] != 1 || shape[1] < 1 ||
      getShape(x) != ArrayRef(row))
    return layer.broken("needs a result of four axes, of which the first is 1, "
                        "and an input of the same shape but for a size of 1 "
                        "along the second");
  if (!getElement(x).isSignlessInteger(8) ||
      layer.getOutputElement() != getElement(x))
    return layer.unsupported("has a queue of type " +
                             getTypeName(getElement(x)) + "; nnc handles INT8");
  int64_t cycle = 0;
  if (!layer.getCustomOptions().empty()) {
    FlexOptions map(layer);
    cycle = map.getInt("cycles_max", 0, kMaxSamples, 0);
    if (!map.isSound())
      return {};
  }
  // If the option is missing, TFLite Micro derives the cycle from the length.
  if (cycle == 0)
    cycle = llvm::is_contained({5, 13, 25}, shape[1]) ? 1 : 2;
  if (cycle > 1)
    return layer.unsupported("ends all runs but one of " + Twine(cycle) +
                             "; nnc handles an option 'cycles_max' of 1");
  Variable *queue = layer.getOwnVariable(
      "queue", RankedTensorType::get(shape, getElement(x)));
  if (!queue)
    return {};
  Value next = layer.create<nn::PushOp>(queue->value, x, int64_t(1));
  if (next)
    queue->value = next;
  return next;
}

} // namespace nnc::tflite
