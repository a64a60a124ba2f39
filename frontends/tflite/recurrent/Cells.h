//===- Cells.h - Recurrent layers of floats -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H
#define NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H

#include "frontends/tflite/graph/Layer.h"

namespace nnc::tflite {

/// The operands of a layer of LSTM cells, by their numbers.
struct CellOperands {
  /// The first of 17 operands: the weights of the input gate, the forget gate,
  /// the cell and the output gate, their recurrent weights, three peepholes,
  /// four biases, and a projection with its bias.
  size_t first = 1;
  size_t output = 18, cell = 19; ///< variables
  /// The first of the factors of normalized gates.
  size_t norms = 20;
};

/// How a layer of LSTM cells computes.
struct CellOptions {
  fb::Activation activation;
  float clip, outputClip;
  bool isTimeMajor;
};

/// Whether a layer has what nn.lstm lacks: a projection, peepholes, normalized
/// gates, or no input gate.
bool hasVariants(Layer &layer, const CellOperands &operands);

/// Returns what cells of floats give for the sequences x, and sets their
/// variables. Null, and a report, where operands do not fit.
mlir::Value computeCells(Layer &layer, mlir::Value x,
                         const CellOperands &operands,
                         const CellOptions &options);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_RECURRENT_CELLS_H
