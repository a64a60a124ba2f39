//===- NnOps.td - All ops of nn, by kind -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_OPS
#define NNC_DIALECTS_NN_OPS

include "dialects/nn/attention/Attention.td"
include "dialects/nn/control/Control.td"
include "dialects/nn/convolution/Conv.td"
include "dialects/nn/custom/Custom.td"
include "dialects/nn/elementwise/Elementwise.td"
include "dialects/nn/layers/Layer.td"
include "dialects/nn/learned/Learned.td"
include "dialects/nn/lengths/Lengths.td"
include "dialects/nn/matrix/Det.td"
include "dialects/nn/matrix/MatMul.td"
include "dialects/nn/moves/Moves.td"
include "dialects/nn/normalization/Normalize.td"
include "dialects/nn/normalization/Softmax.td"
include "dialects/nn/ordering/Ordering.td"
include "dialects/nn/pooling/Pool.td"
include "dialects/nn/recurrent/Recurrent.td"
include "dialects/nn/reduction/Reduce.td"
include "dialects/nn/reduction/Scan.td"
include "dialects/nn/regions/Roi.td"
include "dialects/nn/resampling/GridSample.td"
include "dialects/nn/resampling/Resize.td"
include "dialects/nn/signal/Signal.td"
include "dialects/nn/stored_weights/StoredWeights.td"
include "dialects/nn/tensors/Constant.td"

#endif // NNC_DIALECTS_NN_OPS
