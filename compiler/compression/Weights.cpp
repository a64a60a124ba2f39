//===- Weights.cpp - Constants that layers multiply by --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Weights.h"

#include "compiler/quantize/Plan.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/TensorData.h"
#include "dialects/qnn/Qnn.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::compression;
using compression::MatrixForm;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Returns the form of an operand of a matrix product. The last axis of the
/// left operand and the last but one axis of the right operand are summed over,
/// unless `isTurned` says that the operand is transposed.
static std::optional<MatrixForm> getFactorForm(ArrayRef<int64_t> dims,
                                               bool isLeft, bool isTurned) {
  if (dims.size() < 2)
    return std::nullopt;
  return isLeft != isTurned ? MatrixForm::getRowMajor(dims)
                            : MatrixForm::getColumnMajor(dims);
}

/// Returns how a constant at this operand of an op is read as a matrix of
/// weights, or nullopt if the op does not use the operand as weights.
static std::optional<MatrixForm> getForm(OpOperand &operand) {
  using Form = std::optional<MatrixForm>;
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || type.getNumElements() == 0)
    return std::nullopt;
  ArrayRef<int64_t> dims = type.getShape();
  unsigned number = operand.getOperandNumber();
  Operation *op = operand.getOwner();
  if (isa<nn::LstmOp, nn::FullLstmOp, nn::IntegerLstmOp>(op))
    return number == 1 || number == 2 ? Form(MatrixForm::getRowMajor(dims))
                                      : std::nullopt;
  return TypeSwitch<Operation *, Form>(op)
      .Case<nn::ConvOp, qnn::ConvOp>([&](auto) {
        return number == 1 ? Form(MatrixForm::getFilters(dims)) : std::nullopt;
      })
      .Case([&](nn::ConvTransposeOp conv) {
        return number == 1 ? MatrixForm::getTransposedFilters(
                                 dims, int64_t(conv.getGroups()))
                           : std::nullopt;
      })
      .Case([&](nn::MatMulOp matmul) {
        return getFactorForm(dims, number == 0,
                             number == 0 ? matmul.getTransposeA()
                                         : matmul.getTransposeB());
      })
      .Case([&](qnn::MatMulOp) {
        return getFactorForm(dims, number == 0, /*isTurned=*/false);
      })
      .Case([&](nn::RecurrentOp) {
        return number == 1 ? Form(MatrixForm::getRowMajor(dims)) : std::nullopt;
      })
      .Default(Form());
}

std::vector<float> Weights::getMatrix() const {
  TensorData data = *TensorData::get(nn::ConstantOp(constant).getValue());
  if (!scales)
    return form.toMatrix(data.getAs<float>());
  std::vector<float> values(data.getNumElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(data.getReal(int64_t(i))) - float(scales->zeroPoint);
  return form.toMatrix(values);
}

std::vector<float> Weights::getScaleMatrix() const {
  if (!scales)
    return {};
  return form.toMatrix(scales->getElementScales());
}

ElementsAttr Weights::makeElements(ArrayRef<float> matrix) const {
  nn::ConstantOp own = constant;
  auto data =
      TensorData::allocate(cast<RankedTensorType>(own.getValue().getType()));
  std::vector<float> values = form.fromMatrix(matrix);
  if (!scales)
    llvm::copy(values, data.getMutable<float>());
  else
    llvm::transform(values, data.getMutableBytes(), [&](float value) {
      return char(int(value) + scales->zeroPoint);
    });
  return data.toAttribute(nn::getModelName(own.getLoc(), "compressed"));
}

stored::MatrixShape Weights::getShape(int64_t block) const {
  return {form.getRows(), form.getColumns(), block, form.getRunColumns()};
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {

/// The search for the uses of a constant as weights.
class UseFinder {
public:
  UseFinder(nn::ConstantOp constant, const llvm::StringSet<> &exclude)
      : constant(constant), exclude(exclude) {}

  /// Finds all uses. Sets `reason` if the constant has to stay as it is.
  void run() {
    auto type = cast<RankedTensorType>(constant.getValue().getType());
    if (type.getElementType().isInteger(8))
      scales = {quantize::ChannelShape::get(type.getShape().vec(), -1), {1}, 0};
    visit(constant.getY(), {});
    if (form && reason.empty())
      checkElements();
    if (isExcluded)
      reason = "excluded by the command line";
  }

  std::vector<WeightUse> uses;
  /// Form for the first layer; nullopt without one.
  std::optional<MatrixForm> form;
  bool isUniform = true, isFinite = true;
  std::optional<WeightScales> scales;
  /// The first reader of the constant that does not use it as weights.
  Operation *other = nullptr;
  std::string reason;

private:
  void visit(Value value, SmallVector<Operation *, 2> ops);
  std::string readScales(Type type);
  void checkElements();

  nn::ConstantOp constant;
  const llvm::StringSet<> &exclude;
  bool isExcluded = false, isScaled = false;
};

} // namespace

void UseFinder::visit(Value value, SmallVector<Operation *, 2> ops) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    isExcluded = isExcluded || exclude.contains(quantize::getName(op));
    if (isa<qnn::ReinterpretOp, qnn::DequantizeOp>(op)) {
      SmallVector<Operation *, 2> longer = ops;
      longer.push_back(op);
      std::string why = qnn::getQuantizedType(op->getResult(0).getType())
                            ? readScales(op->getResult(0).getType())
                            : "";
      if (reason.empty())
        reason = why;
      visit(op->getResult(0), std::move(longer));
      continue;
    }
    if (isa<qnn::DequantizeBlocksOp>(op) && use.getOperandNumber() == 0) {
      other = op;
      reason = kScalesOfBlocks;
      continue;
    }
    std::optional<MatrixForm> own = getForm(use);
    if (!own) {
      other = other ? other : op;
      continue;
    }
    isUniform = isUniform && (!form || *own == *form);
    form = form ? form : own;
    uses.push_back({&use, ops});
  }
}

/// Reads the scales and the zero point of the integers. Returns the reason why
/// they cannot be compressed, or "".
std::string UseFinder::readScales(Type type) {
  qnn::Parameters parameters = qnn::getParameters(type);
  if (!llvm::all_equal(parameters.zeroPoints))
    return kDifferentZeroPoints;
  auto dims = cast<RankedTensorType>(type).getShape().vec();
  bool isOne = llvm::all_equal(parameters.scales);
  WeightScales found{
      quantize::ChannelShape::get(dims, isOne ? -1 : parameters.axis),
      {parameters.scales.begin(), parameters.scales.end()},
      int(parameters.zeroPoints.front())};
  if (isOne)
    found.scales.resize(1);
  if (isScaled && !(*scales == found))
    return "ops read it with different scales or zero points";
  scales = std::move(found);
  isScaled = true;
  return "";
}

void UseFinder::checkElements() {
  auto data = TensorData::get(constant.getValue());
  if (other) {
    reason = "op '" + quantize::getName(other) + "' (" +
             other->getName().stripDialect().str() +
             ") reads it, too, as something else than weights";
  } else if (!data) {
    reason = "has elements that cannot be read";
  } else if (data->getElementType().isF32()) {
    isFinite = stored::areFinite(data->getAs<float>());
    reason = isFinite ? "" : "holds values that are not finite";
  } else if (!scales) {
    std::string type;
    llvm::raw_string_ostream(type) << data->getElementType();
    reason = "has elements of type " + type +
             ", neither 32-bit floats nor integers of 8 bits";
  }
}

std::vector<Weights> compression::findWeights(ModuleOp module,
                                              const llvm::StringSet<> &exclude,
                                              std::vector<LeftWeights> &left) {
  std::vector<Weights> found;
  DenseMap<Operation *, size_t> numbers;
  module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { numbers.try_emplace(op, numbers.size()); });
  auto getPlace = [&](const WeightUse &use) {
    return std::pair(numbers.at(use.getLayer()),
                     use.operand->getOperandNumber());
  };
  module.walk([&](nn::ConstantOp constant) {
    UseFinder finder(constant, exclude);
    finder.run();
    if (!finder.form) {
      // Tables of which an nn.gather reads rows, and weights with scales for
      // blocks, are reported as left.
      auto gather = dyn_cast_or_null<nn::GatherOp>(finder.other);
      auto type = cast<RankedTensorType>(constant.getValue().getType());
      bool isTable = gather && gather->getOperand(0) == constant.getY() &&
                     isa<FloatType>(type.getElementType()) &&
                     llvm::count_if(type.getShape(),
                                    [](int64_t size) { return size > 1; }) > 1;
      if (isTable && finder.reason.empty())
        finder.reason = "nnc compresses the weights of convolutions, matrix "
                        "products and recurrent layers";
      if (finder.other &&
          (isTable || isa<qnn::DequantizeBlocksOp>(finder.other)))
        left.push_back({constant, finder.other, std::move(finder.reason)});
      return;
    }
    if (!finder.reason.empty()) {
      left.push_back({constant, finder.uses.back().getLayer(),
                      std::move(finder.reason), finder.isFinite});
      return;
    }
    llvm::sort(finder.uses, [&](const WeightUse &a, const WeightUse &b) {
      return getPlace(a) < getPlace(b);
    });
    found.push_back({constant, std::move(finder.uses), *finder.form,
                     finder.isUniform, std::move(finder.scales)});
  });
  llvm::sort(found, [&](const Weights &a, const Weights &b) {
    return getPlace(a.uses.front()) < getPlace(b.uses.front());
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Inputs of the layers that weights multiply
//===----------------------------------------------------------------------===//

/// Returns a description of the patches of images that a convolution with
/// filters of shape `dims` reads.
template <class Conv>
static LayerInputs describeImages(Conv conv, ArrayRef<int64_t> dims) {
  LayerInputs inputs;
  inputs.kind = isa<nn::ConvTransposeOp>(conv.getOperation())
                    ? LayerInputs::Kind::transposed
                    : LayerInputs::Kind::convolution;
  inputs.groups = int64_t(conv.getGroups());
  inputs.kernel = dims.drop_front(2).vec();
  inputs.strides = conv.getStrides().vec();
  inputs.dilations = conv.getDilations().vec();
  inputs.pads = conv.getPads().vec();
  return inputs;
}

/// Returns a description of the vectors of the other factor of a matrix
/// product. Rows of a left factor multiply columns of the other factor, and
/// columns of a right factor multiply its rows, unless `isTurned` says that the
/// other factor is transposed.
static LayerInputs describeFactor(ArrayRef<int64_t> dims, unsigned other,
                                  bool isTurned) {
  LayerInputs inputs;
  inputs.batch = dims.drop_back(2).vec();
  inputs.groups = compression::getProduct(inputs.batch);
  inputs.alongColumns = (other != 0) != isTurned;
  return inputs;
}

std::optional<std::pair<Value, LayerInputs>>
compression::findInputs(const Weights &weights, const WeightUse &use,
                        std::string &reason) {
  Operation *layer = use.getLayer();
  unsigned operand = use.operand->getOperandNumber();
  ArrayRef<int64_t> dims =
      cast<RankedTensorType>(use.operand->get().getType()).getShape();
  auto fail = [&](const char *why) {
    reason = why;
    return std::nullopt;
  };
  if (layer->getParentOfType<func::FuncOp>().getSymName() != "main")
    return fail("multiplies values in a body of an nn.if or nn.loop, which are "
                "no values of the model");
  if (!weights.isUniform)
    return fail(kDifferentForms);
  unsigned other = 0;
  LayerInputs inputs;
  if (auto conv = dyn_cast<nn::ConvOp>(layer)) {
    inputs = describeImages(conv, dims);
    inputs.zeroPoint = float(int64_t(conv.getFill()));
  } else if (auto conv = dyn_cast<qnn::ConvOp>(layer)) {
    inputs = describeImages(conv, dims);
  } else if (auto conv = dyn_cast<nn::ConvTransposeOp>(layer)) {
    inputs = describeImages(conv, dims);
  } else if (auto matmul = dyn_cast<nn::MatMulOp>(layer)) {
    other = 1 - operand;
    inputs = describeFactor(dims, other,
                            other == 0 ? matmul.getTransposeA()
                                       : matmul.getTransposeB());
  } else if (isa<qnn::MatMulOp>(layer)) {
    other = 1 - operand;
    inputs = describeFactor(dims, other, /*isTurned=*/false);
  } else if (isa<nn::RecurrentOp>(layer) || operand != 1) {
    return fail("multiplies states, which no other op reads");
  }
  if (inputs.groups < 1 || weights.form.getRows() % inputs.groups != 0)
    return fail("has groups that do not divide its channels");
  Value value = layer->getOperand(other);
  if (qnn::getQuantizedType(value.getType())) {
    qnn::Parameters parameters = qnn::getParameters(value.getType());
    if (!llvm::all_equal(parameters.zeroPoints))
      return fail("multiplies integers whose zero points differ");
    inputs.zeroPoint = float(parameters.zeroPoints.front());
  }
  Operation *producer = value.getDefiningOp();
  while (isa_and_nonnull<qnn::ReinterpretOp, qnn::DequantizeOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  if (isa_and_nonnull<nn::ConstantOp>(producer))
    return fail("multiplies a constant");
  return std::make_pair(value, std::move(inputs));
}
