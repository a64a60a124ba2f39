//===- MicrosoftAttention.cpp - onnxruntime's attention as functions ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each operator becomes ONNX's own Attention. Masks become a tensor that is
// added to the scores.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/microsoft/MicrosoftNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace nnc::onnx;
using llvm::SmallVector;
using llvm::StringLiteral;
using llvm::StringRef;

llvm::ArrayRef<StringLiteral> nnc::onnx::getAttentionOps() {
  static constexpr StringLiteral names[] = {"Attention", "GroupQueryAttention",
                                            "MultiHeadAttention",
                                            "RotaryEmbedding"};
  return names;
}

/// The largest number of heads; no real network has more.
static constexpr int64_t kMaxHeads = 1 << 16;

static bool isHeads(int64_t count) { return count > 0 && count <= kMaxHeads; }

/// Returns statements that define `mask`, which is added to the scores of
/// `total` keys, from the operand `given` of shape `shape`: lengths of the
/// sequences, or a mask with 0 for ignored keys. For other masks, returns an
/// empty text and sets `why`.
static std::string printMask(StringRef given, llvm::ArrayRef<int64_t> shape,
                             int64_t batch, int64_t total, double filter,
                             std::string &why) {
  std::string text;
  if (shape.size() == 1 && shape[0] == batch) {
    text = "start = Constant <value_int: int = 0> () "
           "limit = Constant <value_int: int = " +
           std::to_string(total) +
           "> () step = Constant <value_int: int = 1> () "
           "places = Range (start, limit, step) " +
           printInts("one_axis", {1}) + "wide = Cast <to = 7> (" + given.str() +
           ") column = Unsqueeze (wide, one_axis) "
           "is_kept = Less (places, column) kept = Cast <to = 1> (is_kept) ";
  } else if (shape.size() == 2 || shape.size() == 3) {
    text = "is_kept = Cast <to = 9> (" + given.str() +
           ") kept = Cast <to = 1> (is_kept) ";
  } else {
    why = "with a mask of shape " + print(shape) + " is not supported";
    return "";
  }
  text += printFloat("one", 1) + printFloat("filter", filter) +
          "dropped = Sub (one, kept) row = Mul (dropped, filter) " +
          printInts("axes", shape.size() == 3 ? llvm::ArrayRef<int64_t>{1}
                                              : llvm::ArrayRef<int64_t>{1, 2}) +
          "mask = Unsqueeze (row, axes) ";
  return text;
}

/// Returns the name of Attention's operand that is added to the scores, or an
/// empty string. If there are a mask and a bias, appends their sum to the text.
static std::string joinMasks(bool hasMask, bool hasBias, std::string &text) {
  if (hasMask && hasBias)
    text += "added = Add (mask, bias_of_scores) ";
  return hasMask && hasBias ? "added"
         : hasMask          ? "mask"
         : hasBias          ? "bias_of_scores"
                            : "";
}

/// Returns the attributes of Attention on operands of three axes.
static std::string printHeads(const MicrosoftNode &node, int64_t heads,
                              int64_t groups, bool isCausal) {
  std::string text = "Attention <q_num_heads = " + std::to_string(heads) +
                     ", kv_num_heads = " + std::to_string(groups) +
                     ", is_causal = " + std::to_string(isCausal);
  if (double scale = node.getFloat("scale", 0))
    text += ", scale: float = " + print(scale);
  if (double cap = node.getFloat("softcap", 0))
    text += ", softcap: float = " + print(cap);
  return text;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the body of Attention: a product that computes queries, keys and
/// values, and attention on them. Past keys and values are one tensor, and so
/// are the present ones.
static std::string printAttention(const MicrosoftNode &node, std::string &why) {
  auto x = node.getShape(0), w = node.getShape(1), past = node.getShape(4);
  int64_t heads = node.getInt("num_heads", 0);
  if (x.size() != 3 || w.size() != 2 || !isHeads(heads)) {
    why = "needs an input of three axes, a matrix of weights and num_heads";
    return "";
  }
  if (node.getInt("do_rotary", 0) ||
      node.getInt("past_present_share_buffer", 0)) {
    why = "with do_rotary or past_present_share_buffer is not supported";
    return "";
  }
  bool hasPast = node.has(4);
  SmallVector<int64_t> sizes = node.getInts("qkv_hidden_sizes");
  if (sizes.size() != 3)
    sizes = {w[1] / 3, w[1] / 3, w[1] / 3};
  std::string text = "product = MatMul (x, w) ";
  text +=
      node.has(2) ? "all = Add (product, bias) " : "all = Identity (product) ";
  text +=
      printInts("sizes", sizes) + "q, k, v = Split <axis = -1> (all, sizes) ";
  if (node.has(3)) {
    std::string mask =
        printMask("mask_index", node.getShape(3), x[0],
                  x[1] + (past.size() == 5 ? past[3] : 0),
                  node.getFloat("mask_filter_value", -10000), why);
    if (mask.empty())
      return "";
    text += mask;
  }
  std::string added = joinMasks(node.has(3), node.has(5), text);
  if (hasPast)
    text += "pk4, pv4 = Split <axis = 0, num_outputs = 2> (past) " +
            printInts("front", {0}) +
            "pk = Squeeze (pk4, front) pv = Squeeze (pv4, front) ";
  text += "y, nk, nv = " +
          printHeads(node, heads, heads, node.getInt("unidirectional", 0)) +
          "> (q, k, v, " + added + (hasPast ? ", pk, pv) " : ") ");
  if (node.hasResult(1) && hasPast)
    text += "nk5 = Unsqueeze (nk, front) nv5 = Unsqueeze (nv, front) "
            "present = Concat <axis = 0> (nk5, nv5) ";
  else if (node.hasResult(1))
    // ONNX's Attention returns present keys and values only if there are past
    // ones.
    text += printInts("by_head", {0, 0, heads, -1}) + printInts("back", {0}) +
            "k4 = Reshape (k, by_head) v4 = Reshape (v, by_head) "
            "kt = Transpose <perm = [0, 2, 1, 3]> (k4) "
            "vt = Transpose <perm = [0, 2, 1, 3]> (v4) "
            "nk5 = Unsqueeze (kt, back) nv5 = Unsqueeze (vt, back) "
            "present = Concat <axis = 0> (nk5, nv5) ";
  return "(x, w, bias, mask_index, past, bias_of_scores, past_length) => (y, "
         "present) {" +
         text + "}";
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// Returns the body of MultiHeadAttention. Queries, keys and values may be
/// packed together.
static std::string printMultiHead(const MicrosoftNode &node, std::string &why) {
  auto q = node.getShape(0), k = node.getShape(1), pastKey = node.getShape(6);
  int64_t heads = node.getInt("num_heads", 0);
  auto fail = [&](StringRef reason) {
    why = reason.str();
    return std::string();
  };
  if (!isHeads(heads) || (q.size() != 3 && q.size() != 5))
    return fail("needs num_heads and queries of three or five axes");
  if (node.has(8) || node.has(9) || node.hasResult(3))
    return fail(
        "with a past length, a cache indirection or scores as result is "
        "not supported");
  std::string text;
  int64_t length = q[1], width = q.size() == 5 ? heads * q[4] : q[2];
  if (q.size() == 5) {
    text = "q5, k5, v5 = Split <axis = 3, num_outputs = 3> (query) " +
           printInts("flat", {0, 0, -1}) +
           "q0 = Reshape (q5, flat) k0 = Reshape (k5, flat) "
           "v0 = Reshape (v5, flat) ";
  } else if (k.size() == 5) {
    length = k[1];
    text = "k5, v5 = Split <axis = 3, num_outputs = 2> (key) " +
           printInts("flat", {0, 0, -1}) +
           "q0 = Identity (query) k0 = Reshape (k5, flat) "
           "v0 = Reshape (v5, flat) ";
  } else if (k.size() == 4) {
    // Keys and values of another sequence (cross-attention), already split into
    // heads.
    length = k[2];
    text = printInts("flat", {0, 0, -1}) +
           "kt = Transpose <perm = [0, 2, 1, 3]> (key) "
           "vt = Transpose <perm = [0, 2, 1, 3]> (value) "
           "q0 = Identity (query) k0 = Reshape (kt, flat) "
           "v0 = Reshape (vt, flat) ";
  } else if (k.size() == 3) {
    length = k[1];
    text = "q0 = Identity (query) k0 = Identity (key) v0 = Identity (value) ";
  } else {
    return fail("needs keys of three axes or more");
  }
  if (node.has(3) && node.getRank(3) != 1)
    return fail("needs a bias of one axis");
  if (node.has(3) && k.size() == 4) {
    text += "bq, bk, bv = Split <axis = 0, num_outputs = 3> (bias) "
            "q1 = Add (q0, bq) k1 = Identity (k0) v1 = Identity (v0) ";
  } else if (node.has(3)) {
    int64_t all = node.getShape(3)[0];
    text += printInts("sizes", {width, width, all - 2 * width}) +
            "bq, bk, bv = Split <axis = 0> (bias, sizes) "
            "q1 = Add (q0, bq) k1 = Add (k0, bk) v1 = Add (v0, bv) ";
  } else {
    text += "q1 = Identity (q0) k1 = Identity (k0) v1 = Identity (v0) ";
  }
  bool hasPast = node.has(6) && node.has(7);
  if (node.has(4)) {
    std::string mask =
        printMask("padding", node.getShape(4), q[0],
                  length + (hasPast && pastKey.size() == 4 ? pastKey[2] : 0),
                  node.getFloat("mask_filter_value", -10000), why);
    if (mask.empty())
      return "";
    text += mask;
  }
  std::string added = joinMasks(node.has(4), node.has(5), text);
  std::string attention =
      printHeads(node, heads, heads, node.getInt("unidirectional", 0));
  if (hasPast)
    text += "y, present_key, present_value = " + attention + "> (q1, k1, v1, " +
            added + ", past_key, past_value) ";
  else
    text += "y = " + attention + "> (q1, k1, v1, " + added + ") ";
  if (!hasPast && (node.hasResult(1) || node.hasResult(2)))
    text += printInts("by_head", {0, 0, heads, -1}) +
            "k9 = Reshape (k1, by_head) v9 = Reshape (v1, by_head) "
            "present_key = Transpose <perm = [0, 2, 1, 3]> (k9) "
            "present_value = Transpose <perm = [0, 2, 1, 3]> (v9) ";
  return "(query, key, value, bias, padding, bias_of_scores, past_key, "
         "past_value, past_length, indirection) => (y, present_key, "
         "present_value) {" +
         text + "}";
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding, GroupQueryAttention
//===----------------------------------------------------------------------===//

/// Returns statements that rotate `from`, of three or four axes, and define
/// `to`. `positions` has one for each sequence and step.
static std::string printRotation(StringRef to, StringRef from, int64_t heads,
                                 int64_t interleaved, int64_t width) {
  std::string text = (to + " = RotaryEmbedding <interleaved = ").str() +
                     std::to_string(interleaved);
  if (heads > 0)
    text += ", num_heads = " + std::to_string(heads);
  if (width > 0)
    text += ", rotary_embedding_dim = " + std::to_string(width);
  return text + "> (" + from.str() + ", cos, sin, positions) ";
}

/// Returns statements that define `steps`, 0, 1, ..., count - 1, as one row.
static std::string printSteps(int64_t count) {
  return "start = Constant <value_int: int = 0> () "
         "limit = Constant <value_int: int = " +
         std::to_string(count) +
         "> () step = Constant <value_int: int = 1> () "
         "steps1 = Range (start, limit, step) " +
         printInts("row_axis", {0}) + "steps = Unsqueeze (steps1, row_axis) ";
}

static std::string printRotary(const MicrosoftNode &node, std::string &why) {
  auto x = node.getShape(0), positions = node.getShape(1),
       cos = node.getShape(2);
  if ((x.size() != 3 && x.size() != 4) || cos.size() != 2) {
    why = "needs an input of three or four axes and caches of two";
    return "";
  }
  if (node.getInt("is_packed_batching", 0) || node.getFloat("scale", 1) != 1) {
    why = "with is_packed_batching or scale is not supported";
    return "";
  }
  int64_t heads = node.getInt("num_heads", 0),
          width = node.getInt("rotary_embedding_dim", 0);
  if (heads == 0 && x.size() == 3 && cos[1] > 0)
    heads = x[2] / (2 * cos[1]);
  std::string text;
  if (positions.size() == 1)
    text = printSteps(x[x.size() == 4 ? 2 : 1]) +
           "moved = Add (steps, given) " +
           printInts("all", {x[0], x[x.size() == 4 ? 2 : 1]}) +
           "positions = Expand (moved, all) ";
  else
    text = "positions = Identity (given) ";
  return "(x, given, cos, sin) => (y) {" + text +
         printRotation("y", "x", x.size() == 4 ? 0 : heads,
                       node.getInt("interleaved", 0), width) +
         "}";
}

/// Returns the body of GroupQueryAttention, whose heads share keys and values
/// in groups. The caches of keys and values have room for all keys; new keys
/// are written behind those of the sequence.
static std::string printGroupQuery(const MicrosoftNode &node,
                                   std::string &why) {
  auto fail = [&](StringRef reason) {
    why = reason.str();
    return std::string();
  };
  auto q = node.getShape(0), past = node.getShape(3);
  int64_t heads = node.getInt("num_heads", 0),
          groups = node.getInt("kv_num_heads", 0);
  if (q.size() != 3 || !isHeads(heads) || !isHeads(groups))
    return fail("needs queries of three axes, num_heads and kv_num_heads");
  if (past.size() != 4 || !node.has(4))
    return fail("needs past keys and values of four axes");
  if (node.getInt("smooth_softmax", 0) == 1 || node.has(11) ||
      node.hasResult(3))
    return fail("with smooth_softmax, head_sink or scores as result is not "
                "supported");
  int64_t batch = q[0], steps = q[1], size = past[3];
  std::string text;
  if (node.has(1))
    text = "q0 = Identity (query) k0 = Identity (key) v0 = Identity (value) ";
  else
    text = printInts("sizes", {heads * size, groups * size, groups * size}) +
           "q0, k0, v0 = Split <axis = -1> (query, sizes) ";
  // The number of keys of each sequence, and the position of the first new one.
  text += printInts("one", {1}) + printInts("new", {steps}) +
          printInts("each", {batch}) +
          "last1 = Cast <to = 7> (last) last2 = Reshape (last1, each) "
          "lengths = Add (last2, one) starts = Sub (lengths, new) ";
  if (node.getInt("do_rotary", 0)) {
    if (node.getRank(7) != 2 || node.getRank(8) != 2)
      return fail("with do_rotary needs cos_cache and sin_cache of two axes");
    if (node.has(9))
      text += "positions = Identity (given_positions) ";
    else
      text += printSteps(steps) + printInts("column_axis", {1}) +
              "column = Unsqueeze (starts, column_axis) "
              "positions = Add (column, steps) ";
    int64_t interleaved = node.getInt("rotary_interleaved", 0);
    int64_t width = 2 * node.getShape(7).back();
    width = width == size ? 0 : width;
    text += printRotation("q1", "q0", heads, interleaved, width) +
            printRotation("k1", "k0", groups, interleaved, width);
  } else {
    text += "q1 = Identity (q0) k1 = Identity (k0) ";
  }
  // Caches that have no room for all keys grow. If the number of keys is not
  // known, the caches are assumed to have room.
  auto total = node.getKnown(6);
  if (!total)
    why = "takes past keys and values for caches with room for the new ones, "
          "since total_sequence_length is not known; if they have none, make "
          "it a constant by --value";
  if (int64_t more = total.value_or(0) - past[2]; more > 0)
    text += printInts("pads", {0, 0, 0, 0, 0, 0, more, 0}) +
            "room_key = Pad (past_key, pads) room_value = Pad (past_value, "
            "pads) ";
  else
    text += "room_key = Identity (past_key) "
            "room_value = Identity (past_value) ";
  text += printInts("by_head", {batch, steps, groups, size}) +
          printInts("by_query", {batch, steps, heads, size}) +
          "qh = Reshape (q1, by_query) kh = Reshape (k1, by_head) "
          "vh = Reshape (v0, by_head) "
          "qt = Transpose <perm = [0, 2, 1, 3]> (qh) "
          "kt = Transpose <perm = [0, 2, 1, 3]> (kh) "
          "vt = Transpose <perm = [0, 2, 1, 3]> (vh) "
          "present_key = TensorScatter <axis = 2> (room_key, kt, starts) "
          "present_value = TensorScatter <axis = 2> (room_value, vt, starts) ";
  text += "yt = Attention <is_causal = 1";
  if (double scale = node.getFloat("scale", 0))
    text += ", scale: float = " + print(scale);
  if (double cap = node.getFloat("softcap", 0))
    text += ", softcap: float = " + print(cap);
  if (int64_t window = node.getInt("local_window_size", -1); window > 0)
    text += ", left_window_size = " + std::to_string(window - 1);
  text += std::string("> (qt, present_key, present_value, ") +
          (node.has(10) ? "bias_of_scores" : "") + ", , , lengths) ";
  text += printInts("flat", {batch, steps, heads * size}) +
          "yh = Transpose <perm = [0, 2, 1, 3]> (yt) y = Reshape (yh, flat) ";
  return "(query, key, value, past_key, past_value, last, total, cos, sin, "
         "given_positions, bias_of_scores, sink) => (y, present_key, "
         "present_value) {" +
         text + "}";
}

std::string nnc::onnx::printAttentionOp(const MicrosoftNode &node,
                                        std::string &why) {
  StringRef name = node.getName();
  if (name == "Attention")
    return printAttention(node, why);
  if (name == "MultiHeadAttention")
    return printMultiHead(node, why);
  return name == "RotaryEmbedding" ? printRotary(node, why)
                                   : printGroupQuery(node, why);
}
