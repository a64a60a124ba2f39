//===- shapes.h - The run-time shape of every family ----------------------===//
//
// Includes the shape of every family, for users of families.inc: the compiler,
// the reference and tests.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SHAPES_H
#define NNC_ROUTINES_SHAPES_H

#include "runtime/routines/adapt/shape.h"
#include "runtime/routines/argmax/shape.h"
#include "runtime/routines/attention/shape.h"
#include "runtime/routines/block_matmul/shape.h"
#include "runtime/routines/conv2d/shape.h"
#include "runtime/routines/conv_transpose2d/shape.h"
#include "runtime/routines/copy/shape.h"
#include "runtime/routines/couple_probabilities/shape.h"
#include "runtime/routines/decode/shape.h"
#include "runtime/routines/det/shape.h"
#include "runtime/routines/dft/shape.h"
#include "runtime/routines/distinct/shape.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/routines/expanded_conv2d/shape.h"
#include "runtime/routines/filter/shape.h"
#include "runtime/routines/find/shape.h"
#include "runtime/routines/fixed_resize/shape.h"
#include "runtime/routines/full_lstm/shape.h"
#include "runtime/routines/gather/shape.h"
#include "runtime/routines/grid_sample/shape.h"
#include "runtime/routines/integer_lstm/shape.h"
#include "runtime/routines/integer_softmax/shape.h"
#include "runtime/routines/layer_norm/shape.h"
#include "runtime/routines/lstm/shape.h"
#include "runtime/routines/matmul/shape.h"
#include "runtime/routines/max_pool_index/shape.h"
#include "runtime/routines/max_roi_pool/shape.h"
#include "runtime/routines/offset/shape.h"
#include "runtime/routines/pad/shape.h"
#include "runtime/routines/pool2d/shape.h"
#include "runtime/routines/push/shape.h"
#include "runtime/routines/recurrent/shape.h"
#include "runtime/routines/reduce/shape.h"
#include "runtime/routines/resize/shape.h"
#include "runtime/routines/roi_align/shape.h"
#include "runtime/routines/scaled_conv2d/shape.h"
#include "runtime/routines/scan/shape.h"
#include "runtime/routines/scatter/shape.h"
#include "runtime/routines/separable_conv2d/shape.h"
#include "runtime/routines/shape_values.h"
#include "runtime/routines/softmax/shape.h"
#include "runtime/routines/squared_distance/shape.h"
#include "runtime/routines/steps/shape.h"
#include "runtime/routines/stored_matmul/shape.h"
#include "runtime/routines/suppress/shape.h"
#include "runtime/routines/table_softmax/shape.h"
#include "runtime/routines/top_k/shape.h"
#include "runtime/routines/tree_ensemble/shape.h"

#endif // NNC_ROUTINES_SHAPES_H
