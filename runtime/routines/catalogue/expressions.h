//===- expressions.h - Functions for the routine tables -------------------===//
//
// Functions that the columns of routines.inc call: whether a routine applies to
// a shape, the fraction of the machine's peak rate that its inner loop reaches,
// and its rounding error. Include this file before routines.inc wherever those
// columns are used. No emitted module needs it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_EXPRESSIONS_H
#define NNC_ROUTINES_CATALOGUE_EXPRESSIONS_H

#include "runtime/routines/attention/flash_plan.h"
#include "runtime/routines/attention/plan.h"
#include "runtime/routines/catalogue/applies.h"
#include "runtime/routines/catalogue/blocks.h"
#include "runtime/routines/catalogue/convolution.h"
#include "runtime/routines/catalogue/elementwise.h"
#include "runtime/routines/catalogue/fused.h"
#include "runtime/routines/catalogue/integers.h"
#include "runtime/routines/catalogue/matmul.h"
#include "runtime/routines/catalogue/matrix_tiles.h"
#include "runtime/routines/catalogue/moves.h"
#include "runtime/routines/catalogue/rounding.h"
#include "runtime/routines/catalogue/stored.h"
#include "runtime/routines/catalogue/transformed.h"
#include "runtime/routines/convolution/conv2d/depthwise_nhwc_plan.h"
#include "runtime/routines/convolution/conv2d/float_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_plan.h"
#include "runtime/routines/convolution/conv2d/integers_plan.h"
#include "runtime/routines/convolution/conv2d/integers_winograd_plan.h"
#include "runtime/routines/matrix/matmul/bytes_plan.h"
#include "runtime/routines/microcontrollers/dsp_plan.h"
#include "runtime/routines/microcontrollers/helium_plan.h"
#include "runtime/routines/pooling/pool2d/global_plan.h"
#include "runtime/routines/stored_weights/block_matmul/plan.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#endif // NNC_ROUTINES_CATALOGUE_EXPRESSIONS_H
