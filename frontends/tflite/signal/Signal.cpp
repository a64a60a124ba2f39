//===- Signal.cpp - TFLite Micro's signal operators -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// TFLite Micro's custom operators for audio features. The functions in
// runtime/nnc_signal_*.h compute them; the emitted code calls these like custom
// functions of the user. Operators that split and join streams are in
// SignalFrames.cpp, Fourier transforms in SignalFft.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/signal/Signal.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

SignalCall::SignalCall(Layer &layer, size_t results) : layer(layer) {
  call.name = layer.getOp().str();
  sound = layer.getNumResults() == results;
  if (!sound)
    layer.broken("has " + Twine(layer.getNumResults()) +
                 " results instead of " + Twine(results));
}

Type SignalCall::getType(Kind kind) {
  MLIRContext *context = layer.getLoc().getContext();
  switch (kind) {
  case I16:
    return IntegerType::get(context, 16);
  case I32:
    return IntegerType::get(context, 32);
  case U32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case U64:
    return IntegerType::get(context, 64, IntegerType::Unsigned);
  case F32:
    return Float32Type::get(context);
  }
  llvm_unreachable("unknown kind");
}

Value SignalCall::take(size_t i, ArrayRef<Kind> kinds, int64_t rank) {
  Value x = layer.getInput(i);
  bool isOfKind = x && llvm::any_of(kinds, [&](Kind k) {
                    return getType(k) == getElement(x);
                  });
  bool fits = isOfKind && getNumElements(x) > 0 &&
              (rank == kAnyRank ? getRank(x) > 0 : getRank(x) == rank);
  if (fits)
    return x;
  sound = false;
  if (!x)
    return {};
  std::string names;
  for (Kind kind : kinds)
    names += (names.empty() ? "" : " or ") + getTypeName(getType(kind));
  return layer.broken(
      "has operand " + Twine(i) + " of shape " + toString(getShape(x)) +
      " and type " + getTypeName(getElement(x)) + "; needs " + names + " of " +
      (rank == kAnyRank ? Twine("any rank but 0") : "rank " + Twine(rank)) +
      " that is not empty");
}

void SignalCall::read(Value operand) {
  sound &= bool(operand);
  if (!operand)
    return;
  call.operands.push_back(operand);
  call.reads.push_back(
      describePlain(cast<RankedTensorType>(operand.getType())));
}

void SignalCall::write(ArrayRef<int64_t> shape, Type element) {
  call.writes.push_back(describePlain(RankedTensorType::get(shape, element)));
}

void SignalCall::keep(StringRef name, ArrayRef<int64_t> shape, Type element) {
  if (!sound)
    return;
  Variable *variable =
      layer.getOwnVariable(name, RankedTensorType::get(shape, element));
  sound &= bool(variable);
  if (!variable)
    return;
  read(variable->value);
  kept.push_back(variable);
}

Value SignalCall::finish(StringRef header, StringRef function,
                         ArrayRef<int64_t> options, int64_t scratch) {
  if (!sound)
    return {};
  size_t results = call.writes.size();
  for (Variable *variable : kept) {
    auto type = cast<RankedTensorType>(variable->value.getType());
    write(type.getShape(), type.getElementType());
  }
  Builder &builder = layer.getBuilder();
  call.attributes.push_back(
      builder.getNamedAttr("ints", builder.getDenseI64ArrayAttr(options)));
  CustomFunction custom;
  custom.op = call.name;
  custom.header = header.str();
  custom.name = function.str();
  custom.scratch = scratch;
  SmallVector<Value> made = layer.getCustoms().create(custom, call, layer);
  if (made.empty())
    return {};
  for (size_t i = 0; i < results; ++i)
    layer.setResult(i, made[i]);
  for (auto [i, variable] : llvm::enumerate(kept))
    variable->value = made[results + i];
  return made[0];
}

//===----------------------------------------------------------------------===//
// Features of spectra
//===----------------------------------------------------------------------===//

namespace nnc::tflite {

static constexpr StringLiteral kSpectrum = "nnc_signal_spectrum.h";

Value convertSignalWindow(Layer &layer) {
  FlexOptions map(layer);
  int64_t shift = map.getInt("shift", 0, 31);
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::I16, SignalCall::kAnyRank);
  Value weights = call.take(1, SignalCall::I16);
  if (!x || !weights || !map.isSound())
    return {};
  if (getNumElements(x) % getNumElements(weights) != 0)
    return layer.broken("has samples of shape " + toString(getShape(x)) +
                        ", which are no multiple of its " +
                        Twine(getNumElements(weights)) + " weights");
  call.read(x);
  call.read(weights);
  call.write(getShape(x), getElement(x));
  return call.finish(kSpectrum, "nnc_signal_window", {shift});
}

Value convertSignalFftAutoScale(Layer &layer) {
  SignalCall call(layer, 2);
  Value x = call.take(0, SignalCall::I16);
  call.read(x);
  call.write(getShape(x), call.getType(SignalCall::I16));
  call.write({}, call.getType(SignalCall::I32));
  return call.finish(kSpectrum, "nnc_signal_auto_scale", {0});
}

Value convertSignalEnergy(Layer &layer) {
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::I16);
  if (!x)
    return {};
  int64_t count = getNumElements(x) / 2;
  if (getNumElements(x) % 2 != 0)
    return layer.broken("has an odd number of parts of complex numbers, " +
                        Twine(getNumElements(x)));
  FlexOptions map(layer);
  int64_t start = map.getInt("start_index", 0, count);
  int64_t end = map.getInt("end_index", 0, count);
  if (!map.isSound())
    return {};
  call.read(x);
  call.write({count}, call.getType(SignalCall::U32));
  return call.finish(kSpectrum, "nnc_signal_energy", {start, end});
}

Value convertSignalFilterBank(Layer &layer) {
  FlexOptions map(layer);
  int64_t channels = map.getInt("num_channels", 1, kMaxSamples);
  SignalCall call(layer, 1);
  SmallVector<Value> operands = {call.take(0, SignalCall::U32)};
  for (size_t i = 1; i < 6; ++i)
    operands.push_back(call.take(i, SignalCall::I16));
  if (llvm::is_contained(operands, Value()) || !map.isSound())
    return {};
  auto energies = layer.readInts(operands[3], "the energies of channels");
  auto weights = layer.readInts(operands[4], "the weights of channels");
  auto widths = layer.readInts(operands[5], "the widths of channels");
  if (!energies || !weights || !widths)
    return {};
  int64_t most = getNumElements(operands[0]);
  int64_t known =
      std::min(getNumElements(operands[1]), getNumElements(operands[2]));
  for (auto *list : {&*energies, &*weights, &*widths})
    if (int64_t(list->size()) != channels + 1)
      return layer.broken("has " + Twine(list->size()) +
                          " starts or widths for " + Twine(channels) +
                          " channels; needs one more than channels");
  for (auto [energy, weight, width] :
       llvm::zip_equal(*energies, *weights, *widths))
    if (width > 0 && (energy < 0 || energy + width > most || weight < 0 ||
                      weight + width > known))
      return layer.broken("has a channel of " + Twine(width) +
                          " energies from " + Twine(energy) +
                          " on, with weights from " + Twine(weight) +
                          " on; there are " + Twine(most) + " energies and " +
                          Twine(known) + " weights");
  for (Value operand : operands)
    call.read(operand);
  call.write({channels}, call.getType(SignalCall::U64));
  return call.finish(kSpectrum, "nnc_signal_filter_bank", {channels});
}

Value convertSignalFilterBankSquareRoot(Layer &layer) {
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::U64);
  call.read(x);
  call.read(call.take(1, SignalCall::I32, 0));
  call.write(getShape(x), call.getType(SignalCall::U32));
  return call.finish(kSpectrum, "nnc_signal_square_root", {0});
}

Value convertSignalFilterBankSpectralSubtraction(Layer &layer) {
  SignalCall call(layer, 2);
  Value x = call.take(0, SignalCall::U32);
  if (!x)
    return {};
  FlexOptions map(layer);
  SmallVector<int64_t> options;
  // These are in the order of enum nnc_signal_subtraction.
  for (const char *name :
       {"smoothing", "one_minus_smoothing", "alternate_smoothing",
        "alternate_one_minus_smoothing", "min_signal_remaining"})
    options.push_back(map.getInt(name, INT32_MIN, INT32_MAX));
  options.push_back(map.getInt("smoothing_bits", 0, 31));
  options.push_back(map.getInt("spectral_subtraction_bits", 0, 63));
  options.push_back(map.getBool("clamping", /*isNeeded=*/true));
  int64_t channels = map.getInt("num_channels", 1, kMaxSamples);
  if (!map.isSound())
    return {};
  if (getNumElements(x) != channels)
    return layer.broken("reads " + Twine(getNumElements(x)) +
                        " channels; its option 'num_channels' is " +
                        Twine(channels));
  Type element = getElement(x);
  call.read(x);
  call.write({channels}, element);
  call.write({channels}, element);
  call.keep("noise", {channels}, element);
  return call.finish(kSpectrum, "nnc_signal_spectral_subtraction", options);
}

/// The number of entries in a table of gains: one each for 0, 1 and 2, and four
/// (three numbers and a gap) for each power of two from 2 to 2^31.
static constexpr int64_t kGains = 125;

Value convertSignalPcan(Layer &layer) {
  FlexOptions map(layer);
  int64_t shift = map.getInt("snr_shift", 0, 63);
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::U32),
        noise = call.take(1, SignalCall::U32),
        gains = call.take(2, SignalCall::I16);
  if (!x || !noise || !gains || !map.isSound())
    return {};
  if (getShape(x) != getShape(noise) || getNumElements(gains) < kGains)
    return layer.broken("has " + Twine(getNumElements(x)) + " channels, " +
                        Twine(getNumElements(noise)) + " estimates and " +
                        Twine(getNumElements(gains)) +
                        " gains; needs as many estimates as channels and " +
                        Twine(kGains) + " gains");
  for (Value operand : {x, noise, gains})
    call.read(operand);
  call.write(getShape(x), getElement(x));
  return call.finish(kSpectrum, "nnc_signal_pcan", {shift});
}

/// Returns log2(1 + i / 128) - i / 128 with 16 fraction bits, for i from 0 to
/// 128.
static Value makeLogTable(Layer &layer) {
  SmallVector<uint16_t> table;
  for (int i = 0; i <= 128; ++i)
    table.push_back(static_cast<uint16_t>(
        std::lround(65536 * (std::log2(1 + i / 128.0) - i / 128.0))));
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(129, IntegerType::get(layer.getLoc().getContext(),
                                                  16, IntegerType::Unsigned)),
      ArrayRef(table)));
}

Value convertSignalFilterBankLog(Layer &layer) {
  FlexOptions map(layer);
  int64_t correction = map.getInt("input_correction_bits", 0, 31);
  int64_t scale = map.getInt("output_scale", INT32_MIN, INT32_MAX);
  SignalCall call(layer, 1);
  Value x = call.take(0, SignalCall::U32);
  if (!x || !map.isSound())
    return {};
  call.read(x);
  call.read(makeLogTable(layer));
  call.write(getShape(x), call.getType(SignalCall::I16));
  return call.finish(kSpectrum, "nnc_signal_log", {correction, scale});
}

} // namespace nnc::tflite
