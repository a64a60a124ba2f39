//===- Cells.h - Recurrent layers of floats -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H
#define NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H

#include "frontends/tflite/graph/Layer.h"

namespace nnc::tflite {

/// The indices of the operands of a layer of LSTM cells.
struct CellOperands {
  /// The first of 17 consecutive operands: the weights of the input gate, the
  /// forget gate, the cell and the output gate, their recurrent weights, three
  /// peepholes, four biases, and a projection with its bias.
  size_t first = 1;
  size_t output = 18, cell = 19; ///< state variables
  /// The first of the layer normalization coefficients of the gates.
  size_t norms = 20;
};

/// The options of a layer of LSTM cells.
struct CellOptions {
  fb::Activation activation;
  float clip, outputClip;
  bool isTimeMajor;
};

/// Returns true if a layer has a feature that nn.lstm lacks: a projection,
/// peepholes, layer-normalized gates, or no input gate.
bool hasVariants(Layer &layer, const CellOperands &operands);

/// Returns the outputs of LSTM cells of floats for the sequences `x`, and sets
/// their state variables. Returns null after an error if operands do not fit.
mlir::Value computeCells(Layer &layer, mlir::Value x,
                         const CellOperands &operands,
                         const CellOptions &options);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H
