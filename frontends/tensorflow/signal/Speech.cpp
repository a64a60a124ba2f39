//===- Speech.cpp - Spectrograms and cepstra of speech -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/tensorflow/graph/Layer.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Converts AudioSpectrogram: the magnitudes, or their squares, of the Fourier
/// transforms of windows of a signal, samples x channels.
Value convertAudioSpectrogram(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t window = layer.getInt("window_size"), stride = layer.getInt("stride");
  if (!x)
    return {};
  if (getRank(x) != 2 || getNumElements(x) == 0 || window < 2 || stride < 1 ||
      window > 1 << 16 || stride > 1 << 24 || !getElement(x).isF32())
    return layer.broken("has windows of " + Twine(window) + " at steps of " +
                        Twine(stride) + " in a signal of shape " +
                        toString(getShape(x)));
  int64_t samples = getShape(x)[0], channels = getShape(x)[1];
  if (samples < window)
    return layer.unsupported("has a signal of " + Twine(samples) +
                             " samples, which is shorter than its window");
  int64_t frames = (samples - window) / stride + 1;
  auto length = int64_t(llvm::PowerOf2Ceil(uint64_t(window)));
  if (frames * length > 1 << 26)
    return layer.fail(ImportStatus::limit,
                      "transforms more than 67108864 samples of windows");
  Sizes places;
  SmallVector<double> hann;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < window; ++i)
      places.push_back(frame * stride + i);
  for (int64_t i = 0; i < window; ++i)
    hann.push_back(0.5 - 0.5 * std::cos(2 * M_PI * double(i) / double(window)));
  Value cut = layer.create<nn::GatherOp>(layer.transpose(x, {1, 0}),
                                         layer.constant(places), int64_t(1));
  cut = layer.createElementwise(
      "mul", {layer.reshape(cut, {channels, frames, window}),
              makeReals(layer, {window}, getElement(x), hann)});
  Value spectrum = transformLines(
      layer, layer.reshape(cut, {channels, frames, window, 1}), {}, 2, length,
      /*step=*/0, /*isInverse=*/false, /*isOneSided=*/true);
  return spectrum
             ? layer.create<nn::ReduceOp>(layer.getBool("magnitude_squared")
                                              ? nn::ReduceKind::sum_square
                                              : nn::ReduceKind::l2,
                                          spectrum, ArrayRef<int64_t>{3},
                                          /*keepdims=*/false)
             : Value();
}

static double toMel(double frequency) {
  return 1127.0 * std::log1p(frequency / 700.0);
}

/// Returns the weights of `bins` bins of a spectrum in `channels` bands of the
/// mel scale, bins x channels.
static SmallVector<double> makeBands(int64_t bins, int64_t channels,
                                     double rate, double lower, double upper) {
  double low = toMel(lower),
         spacing = (toMel(upper) - low) / double(channels + 1);
  SmallVector<double> centers;
  for (int64_t i = 0; i <= channels; ++i)
    centers.push_back(low + spacing * double(i + 1));
  double step = 0.5 * rate / double(bins - 1);
  auto first = int64_t(1.5 + lower / step), last = int64_t(upper / step);
  SmallVector<double> weights(bins * channels, 0.0);
  int64_t channel = 0;
  for (int64_t i = std::max<int64_t>(first, 0); i <= last && i < bins; ++i) {
    double mel = toMel(double(i) * step);
    while (channel < channels && centers[channel] < mel)
      ++channel;
    // The bin lies between the centers of this band and of the one before.
    double part = channel > 0 ? (centers[channel] - mel) /
                                    (centers[channel] - centers[channel - 1])
                              : (centers[0] - mel) / (centers[0] - low);
    if (channel > 0)
      weights[i * channels + channel - 1] += part;
    if (channel < channels)
      weights[i * channels + channel] += 1 - part;
  }
  return weights;
}

/// Converts Mfcc: the cepstral coefficients of the squared magnitudes of
/// spectra, in bands of the mel scale.
Value convertMfcc(Layer &layer) {
  Value x = layer.getInput(0);
  auto rate = layer.readInts(layer.getInput(1), "a sample rate");
  if (!x || !rate)
    return {};
  int64_t bands = layer.getInt("filterbank_channel_count", 40),
          count = layer.getInt("dct_coefficient_count", 13);
  double lower = layer.getReal("lower_frequency_limit", 20),
         upper = layer.getReal("upper_frequency_limit", 4000);
  int64_t bins = getRank(x) == 3 ? getShape(x)[2] : 0;
  if (rate->size() != 1 || (*rate)[0] < 1 || bins < 2 || bands < 1 ||
      bands > 1 << 12 || count < 1 || count > bands || !(lower >= 0) ||
      !(upper > lower) || !getElement(x).isF32() || bins * bands > 1 << 24)
    return layer.broken("has spectra of shape " + toString(getShape(x)) + ", " +
                        Twine(bands) + " bands and " + Twine(count) +
                        " coefficients");
  Type real = getElement(x);
  Value weights =
      makeReals(layer, {bins, bands}, real,
                makeBands(bins, bands, double((*rate)[0]), lower, upper));
  SmallVector<double> cosines;
  for (int64_t i = 0; i < bands; ++i)
    for (int64_t j = 0; j < count; ++j)
      cosines.push_back(
          std::sqrt(2.0 / double(bands)) *
          std::cos(double(j) * M_PI / double(bands) * (double(i) + 0.5)));
  int64_t frames = getShape(x)[0] * getShape(x)[1];
  Value magnitudes =
      layer.reshape(layer.createElementwise("sqrt", {x}), {frames, bins});
  Value energies =
      layer.create<nn::MatMulOp>(magnitudes, weights, false, false, TypeAttr());
  energies = layer.createElementwise(
      "log",
      {layer.createElementwise("max", {energies, layer.splat(1e-12, real)})});
  Value y = layer.create<nn::MatMulOp>(
      energies, makeReals(layer, {bands, count}, real, cosines), false, false,
      TypeAttr());
  return layer.reshape(y, {getShape(x)[0], getShape(x)[1], count});
}

} // namespace nnc::tensorflow
