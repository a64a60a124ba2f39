//===- MicrosoftRecurrent.cpp - onnxruntime's quantized LSTM --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// DynamicQuantizeLSTM is an LSTM with 8-bit weights, to which onnxruntime's
// quantize_dynamic converts each LSTM. It quantizes the sequence as a whole,
// and the states of each step before their product, to u8, each with its own
// scale. The function is a Scan over the steps.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/microsoft/MicrosoftNode.h"
#include "frontends/onnx/recurrent/CellActivations.h"

using namespace nnc;
using namespace nnc::onnx;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
/// The indices of the operands.
enum Operand {
  kX,
  kWeights,
  kRecurrent,
  kBias,
  kLengths,
  kFirstState,
  kFirstCell,
  kPeepholes,
  kWeightScale,
  kWeightZero,
  kRecurrentScale,
  kRecurrentZero
};

/// A writer of the body of a node as statements of ONNX's text syntax. Names of
/// values of one direction end with the direction's number.
class Writer {
public:
  explicit Writer(const MicrosoftNode &node) : node(node) {}
  /// Returns the body. If the node is not valid, returns an empty text and sets
  /// `why`.
  std::string write(std::string &why);

private:
  bool read(std::string &why);
  void writeShared();
  void writeDirection(int64_t direction);
  /// Adds the statements of a step, with the activations of a direction.
  void writeStep(int64_t direction);
  void writeGate(StringRef gate, StringRef cell, int64_t direction, int which);
  void writeActivation(StringRef to, StringRef from, int64_t direction,
                       int which);
  /// Adds a statement that joins the results of all directions along a new
  /// axis.
  void writeResult(StringRef name, int64_t axis);
  /// Adds a statement that defines `name` as the slice of an operand for a
  /// direction, without the axis of directions.
  void take(StringRef name, StringRef operand, int64_t direction);
  void add(const llvm::Twine &statement) { body += statement.str() + " "; }
  std::string declare(StringRef name, ArrayRef<int64_t> shape) const {
    return "float" + print(shape) + " " + name.str();
  }

  const MicrosoftNode &node;
  std::vector<CellActivations> activations;
  int64_t steps = 0, batch = 0, inputs = 0, units = 0, directions = 1;
  std::string direction;
  std::string body;
};
} // namespace

bool Writer::read(std::string &why) {
  direction = node.getString("direction", "forward");
  directions = direction == "bidirectional" ? 2 : 1;
  if (directions == 1 && direction != "forward" && direction != "reverse") {
    why = "has the direction '" + direction + "'";
    return false;
  }
  ArrayRef<int64_t> x = node.getShape(kX), w = node.getShape(kWeights),
                    r = node.getShape(kRecurrent);
  bool fits = x.size() == 3 && w.size() == 3 && r.size() == 3;
  if (fits) {
    steps = x[0];
    batch = x[1];
    inputs = x[2];
    units = r[1];
    fits = w == ArrayRef({directions, inputs, 4 * units}) &&
           r == ArrayRef({directions, units, 4 * units}) &&
           node.getInt("hidden_size", units) == units;
  }
  if (!fits) {
    why = "has weights of shapes " + print(w) + " and " + print(r) +
          " for sequences of shape " + print(x);
    return false;
  }
  auto checkShape = [&](int operand, ArrayRef<int64_t> wanted) {
    if (!node.has(operand) || node.getShape(operand) == wanted)
      return true;
    why = "has an operand " + std::to_string(operand) + " of shape " +
          print(node.getShape(operand)) + ", not " + print(wanted);
    return false;
  };
  bool areSound = checkShape(kBias, {directions, 8 * units}) &&
                  checkShape(kLengths, {batch}) &&
                  checkShape(kFirstState, {directions, batch, units}) &&
                  checkShape(kFirstCell, {directions, batch, units}) &&
                  checkShape(kPeepholes, {directions, 3 * units});
  for (int operand :
       {kWeightScale, kWeightZero, kRecurrentScale, kRecurrentZero})
    areSound = areSound && (node.getRank(operand) == 1
                                ? checkShape(operand, {directions})
                                : checkShape(operand, {directions, 4 * units}));
  if (!areSound)
    return false;
  llvm::SmallVector<std::string> names = node.getStrings("activations");
  llvm::SmallVector<double> alphas = node.getFloats("activation_alpha"),
                            betas = node.getFloats("activation_beta");
  auto found = readActivations({names, alphas, betas}, nn::CellKind::lstm,
                               directions, why);
  if (found)
    activations = std::move(*found);
  return found.has_value();
}

void Writer::take(StringRef name, StringRef operand, int64_t direction) {
  if (directions == 1)
    add(name + " = Squeeze (" + operand + ", first)");
  else
    add(name + " = Gather <axis = 0> (" + operand + ", number" +
        llvm::Twine(direction) + ")");
}

void Writer::writeShared() {
  body += printInts("first", {0}) + printInts("second", {1});
  if (directions == 2)
    add("number0 = Constant <value_int: int = 0> () "
        "number1 = Constant <value_int: int = 1> ()");
  // Steps behind the end of all sequences are left out of the range, which
  // always includes 0.
  if (node.has(kLengths)) {
    add("start = Constant <value = int32 {0}> () one = Constant <value = int32 "
        "{1}> () count = Constant <value = int32 {" +
        llvm::Twine(steps) +
        "}> () step = Range (start, count, one) "
        "longest = ReduceMax <keepdims = 0> (lengths) "
        "isRead = Less (step, longest) ends = Constant <value_ints: ints = [1, "
        "2]> () isReadColumn = Unsqueeze (isRead, ends) nothing = Constant "
        "<value_float: float = 0.0> () "
        "read = Where (isReadColumn, x, nothing) wide = Cast <to = 7> "
        "(lengths)");
  } else {
    add("read = Identity (x)");
  }
  add("q, q_scale, q_zero = DynamicQuantizeLinear (read)");
}

void Writer::writeActivation(StringRef to, StringRef from, int64_t direction,
                             int which) {
  const CellActivations &own = activations[direction];
  std::string alpha = print(own.numbers[2 * which]),
              beta = print(own.numbers[2 * which + 1]);
  auto call = [&](StringRef op, StringRef attributes = "") {
    add(to + " = " + op + " " + attributes + "(" + from + ")");
  };
  std::string withAlpha = "<alpha: float = " + alpha + "> ";
  switch (own.kinds[which]) {
  case nn::CellActivation::relu:
    return call("Relu");
  case nn::CellActivation::tanh:
    return call("Tanh");
  case nn::CellActivation::sigmoid:
    return call("Sigmoid");
  case nn::CellActivation::softsign:
    return call("Softsign");
  case nn::CellActivation::softplus:
    return call("Softplus");
  case nn::CellActivation::leaky_relu:
    return call("LeakyRelu", withAlpha);
  case nn::CellActivation::thresholded_relu:
    return call("ThresholdedRelu", withAlpha);
  case nn::CellActivation::elu:
    return call("Elu", withAlpha);
  case nn::CellActivation::hard_sigmoid:
    return call("HardSigmoid",
                "<alpha: float = " + alpha + ", beta: float = " + beta + "> ");
  case nn::CellActivation::affine:
    return add(printFloat((to + "_alpha").str(), own.numbers[2 * which]) +
               printFloat((to + "_beta").str(), own.numbers[2 * which + 1]) +
               to + "_product = Mul (" + from + ", " + to + "_alpha) " + to +
               " = Add (" + to + "_product, " + to + "_beta)");
  case nn::CellActivation::scaled_tanh:
    return add(printFloat((to + "_alpha").str(), own.numbers[2 * which]) +
               printFloat((to + "_beta").str(), own.numbers[2 * which + 1]) +
               to + "_product = Mul (" + from + ", " + to + "_beta) " + to +
               "_tanh = Tanh (" + to + "_product) " + to + " = Mul (" + to +
               "_tanh, " + to + "_alpha)");
  }
  llvm_unreachable("unknown activation");
}

/// Adds the statements of a gate: the activation of its sums, to which a
/// peephole may add the cell's state.
void Writer::writeGate(StringRef gate, StringRef cell, int64_t direction,
                       int which) {
  std::string sums = (gate + "_sums").str();
  if (node.has(kPeepholes) && !cell.empty()) {
    std::string weights = ("peephole_" + gate + llvm::Twine(direction)).str();
    add(gate + "_peep = Mul (" + cell + ", " + weights + ") " + gate +
        "_all = Add (" + sums + ", " + gate + "_peep)");
    sums = (gate + "_all").str();
  }
  if (node.getFloat("clip", 0) > 0) {
    add(gate + "_clipped = Clip (" + sums + ", low, high)");
    sums = (gate + "_clipped").str();
  }
  writeActivation(gate, sums, direction, which);
}

void Writer::writeStep(int64_t direction) {
  std::string d = std::to_string(direction);
  if (double clip = node.getFloat("clip", 0); clip > 0)
    add(printFloat("low", -clip) + printFloat("high", clip));
  bool hasLengths = node.has(kLengths);
  // The states of sequences that have ended are left out of the range, except
  // the initial states of sequences without steps.
  if (hasLengths)
    add("isOn = Less (step, lengths) isOnColumn = Unsqueeze (isOn, second) "
        "nothing = Constant <value_float: float = 0.0> () "
        "isFirst = Less (step, one) isRanged = Or (isOn, isFirst) "
        "isRangedColumn = Unsqueeze (isRanged, second) "
        "state = Where (isRangedColumn, h, nothing)");
  else
    add("state = Identity (h)");
  add("s, s_scale, s_zero = DynamicQuantizeLinear (state) "
      "products = MatMulInteger (s, r" +
      d + ", s_zero" + (node.has(kRecurrentZero) ? ", r_zero" + d : "") +
      ") real = Cast <to = 1> (products) factor = Mul (s_scale, r_scale" + d +
      ") of_state = Mul (real, factor) sums = Add (of_x, of_state) "
      "i_sums, o_sums, f_sums, g_sums = Split <axis = 1, num_outputs = 4> "
      "(sums)");
  writeGate("i", "c", direction, 0);
  if (node.getInt("input_forget", 0))
    add(printFloat("whole", 1) + "f = Sub (whole, i)");
  else
    writeGate("f", "c", direction, 0);
  writeGate("g", "", direction, 1);
  add("kept = Mul (f, c) entered = Mul (i, g) new_c = Add (kept, entered)");
  writeGate("o", "new_c", direction, 0);
  writeActivation("shown", "new_c", direction, 2);
  add("new_h = Mul (o, shown)");
  if (hasLengths)
    add("next_h = Where (isOnColumn, new_h, h) "
        "next_c = Where (isOnColumn, new_c, c) "
        "out = Where (isOnColumn, new_h, nothing)");
  else
    add("next_h = Identity (new_h) next_c = Identity (new_c) "
        "out = Identity (new_h)");
}

void Writer::writeDirection(int64_t number) {
  std::string d = std::to_string(number);
  bool hasLengths = node.has(kLengths);
  bool isReverse = number == 1 || direction == "reverse";
  auto takeIf = [&](int operand, StringRef name, StringRef from) {
    if (node.has(operand))
      take((name + d).str(), from, number);
  };
  takeIf(kWeights, "w", "w");
  takeIf(kRecurrent, "r", "r");
  takeIf(kWeightScale, "w_scale", "w_scale");
  takeIf(kWeightZero, "w_zero", "w_zero");
  takeIf(kRecurrentScale, "r_scale", "r_scale");
  takeIf(kRecurrentZero, "r_zero", "r_zero");
  if (node.has(kPeepholes)) {
    take("peepholes" + d, "p", number);
    add("peephole_i" + d + ", peephole_o" + d + ", peephole_f" + d +
        " = Split <axis = 0, num_outputs = 3> (peepholes" + d + ")");
  }
  for (auto [operand, name] : {std::pair(kFirstState, "h"), {kFirstCell, "c"}})
    if (node.has(operand))
      take(name + d, name, number);
    else
      add(printInts(name + ("_shape" + d), {batch, units}) + name + d +
          " = ConstantOfShape <value = float[1] {0}> (" + name + "_shape" + d +
          ")");
  // In the reverse direction, sequences of equal length are scanned backwards;
  // sequences of different lengths are reversed first.
  bool isTurned = isReverse && hasLengths;
  std::string turn = "ReverseSequence <time_axis = 0, batch_axis = 1> (";
  add("q" + d + " = " + (isTurned ? turn + "q, wide)" : "Identity (q)"));
  add("products" + d + " = MatMulInteger (q" + d + ", w" + d + ", q_zero" +
      (node.has(kWeightZero) ? ", w_zero" + d : "") + ") real" + d +
      " = Cast <to = 1> (products" + d + ") factor" + d +
      " = Mul (q_scale, w_scale" + d + ") scaled" + d + " = Mul (real" + d +
      ", factor" + d + ")");
  if (node.has(kBias)) {
    take("biases" + d, "b", number);
    add("own" + d + ", before" + d + " = Split <axis = 0, num_outputs = 2> " +
        "(biases" + d + ") bias" + d + " = Add (own" + d + ", before" + d +
        ") of_x" + d + " = Add (scaled" + d + ", bias" + d + ")");
  } else {
    add("of_x" + d + " = Identity (scaled" + d + ")");
  }
  std::string order = isReverse && !hasLengths ? "1" : "0";
  add("last_h" + d + ", last_c" + d + ", outs" + d +
      " = Scan <num_scan_inputs = " + (hasLengths ? "2" : "1") +
      ", scan_input_directions = [" + order + (hasLengths ? ", 0" : "") +
      "], scan_output_directions = [" + order + "], body = step" + d + " (" +
      declare("h", {batch, units}) + ", " + declare("c", {batch, units}) +
      ", " + declare("of_x", {batch, 4 * units}) +
      (hasLengths ? ", int32 step" : "") + ") => (" +
      declare("next_h", {batch, units}) + ", " +
      declare("next_c", {batch, units}) + ", " +
      declare("out", {batch, units}) + ") {");
  writeStep(number);
  add("}> (h" + d + ", c" + d + ", of_x" + d + (hasLengths ? ", step)" : ")"));
  add("y" + d + " = " +
      (isTurned ? turn + "outs" + d + ", wide)" : "Identity (outs" + d + ")"));
  // For a sequence without steps onnxruntime gives zeros.
  for (StringRef name : {"h", "c"})
    add(hasLengths ? "ran_" + name + d + " = Less (start, lengths) ranColumn_" +
                         name + d + " = Unsqueeze (ran_" + name + d +
                         ", second) y_" + name + d + " = Where (ranColumn_" +
                         name + d + ", last_" + name + d + ", nothing)"
                   : "y_" + name + d + " = Identity (last_" + name + d + ")");
}

void Writer::writeResult(StringRef name, int64_t axis) {
  std::string parts;
  for (int64_t number = 0; number < directions; ++number) {
    std::string part = (name + llvm::Twine(number)).str();
    add(part + "_part = Unsqueeze (" + part + ", " +
        (axis ? "second" : "first") + ")");
    parts += (number ? ", " : "") + part + "_part";
  }
  add(name + " = Concat <axis = " + llvm::Twine(axis) + "> (" + parts + ")");
}

std::string Writer::write(std::string &why) {
  if (!read(why))
    return "";
  writeShared();
  for (int64_t number = 0; number < directions; ++number)
    writeDirection(number);
  writeResult("y", 1);
  writeResult("y_h", 0);
  writeResult("y_c", 0);
  return "(x, w, r, b, lengths, h, c, p, w_scale, w_zero, r_scale, r_zero) => "
         "(y, y_h, y_c) {" +
         body + "}";
}

std::string nnc::onnx::printQuantizedLstm(const MicrosoftNode &node,
                                          std::string &why) {
  for (int operand : {kX, kWeights, kRecurrent, kWeightScale, kRecurrentScale})
    if (!node.has(operand)) {
      why = "lacks operand " + std::to_string(operand);
      return "";
    }
  return Writer(node).write(why);
}
