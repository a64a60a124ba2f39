//===- WeightForms.cpp - The ways to store a weight -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightForms.h"

#include "compiler/routines/Decode.h"
#include "compiler/routines/StoredConvolutions.h"
#include "dialects/nn/attributes/Attributes.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/encodings/WeightEncoding.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using stored::StoredForm;
using stored::StoredKind;

/// The ratio of the price to the time of decoding a weight into memory of its
/// size. A layer that reads the stored bytes directly may be slower by this
/// factor.
static constexpr double kDecodedShare = 1.25;

double nnc::getPricedSeconds(const WeightForm &form, double extra) {
  return form.decoder ? kDecodedShare * extra : extra;
}

/// Returns the lengths of runs of elements that belong to one row, filter or
/// block of channels of a weight: the products of its last physical dimensions.
static SmallVector<int64_t> getRuns(RankedTensorType type) {
  SmallVector<int64_t> runs;
  int64_t run = 1;
  for (int64_t size : llvm::reverse(getPhysicalShape(type)))
    runs.push_back(run *= size);
  return runs;
}

/// Returns true if at least half of the elements are zeros. Negative zeros
/// count as zeros in floats.
static bool areMostlyZero(const TensorData &data) {
  ArrayRef<char> bytes = data.getBytes();
  const size_t size = getElementBytes(data.getElementType());
  const bool isFloat = isa<FloatType>(data.getElementType());
  size_t zeros = 0;
  for (size_t i = 0; i < bytes.size(); i += size)
    zeros += std::all_of(bytes.begin() + i, bytes.begin() + i + size - 1,
                         [](char byte) { return byte == 0; }) &&
             (bytes[i + size - 1] & (isFloat ? 0x7f : 0xff)) == 0;
  return zeros * 2 * size >= bytes.size();
}

static bool isEncodedType(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  return layout && layout.getEncoding();
}

/// Returns true if a weight of this type may be stored in another form. A type
/// whose encoding already has few bytes is read unchanged, and a type on
/// another device is read on that device.
static bool isOrdinary(RankedTensorType type) {
  return getDevice(type).empty() &&
         (!isEncodedType(type) ||
          getLayout(type).getEncoding()->getKind().empty());
}

WeightForms::WeightForms(std::vector<WeightReader> found,
                         const FormRules &rules)
    : readers(std::move(found)), rules(rules) {
  ofBytes = llvm::all_of(readers, [](const WeightReader &reader) {
    return reader.operand == 1 &&
           LayerOp(reader.layer).getAnchorOp()->hasAttr(kByteWeightsAttr);
  });
  // Weights with kByteWeightsAttr are stored as a table of the integers that
  // occur.
  if (rules.aim == FormAim::time && ofBytes)
    kinds = {StoredKind::codebook};
  else
    kinds = rules.kinds;
  for (const WeightReader &reader : readers)
    for (const Candidate &candidate : reader.candidates) {
      RankedTensorType type = candidate.operands[reader.operand];
      Value value = candidate.getForm(reader.layer)->getOperand(reader.operand);
      if (auto constant = value.getDefiningOp<ConstantOp>())
        constants.try_emplace(type, constant.getValue());
    }
  auto constant = readers.front().getUse().get().getDefiningOp<ConstantOp>();
  own = constant.getValue();
  name = getModelName(constant.getLoc(), "weight");
}

bool WeightForms::hasNone(RankedTensorType type) const {
  const std::vector<WeightForm> &all = forms.find(type)->second;
  return isOrdinary(type) &&
         llvm::none_of(llvm::drop_begin(all),
                       [](const WeightForm &form) { return form.exists; });
}

bool WeightForms::mayHaveForms() const {
  if (mayDecode())
    return !kinds.empty() || rules.aim == FormAim::both;
  // Without a limit of bytes, a form pays off only if it lets layers skip
  // zeros.
  auto data = TensorData::get(own);
  return data && getElementBytes(data->getElementType()) <= 4 &&
         llvm::all_of(readers,
                      [](const WeightReader &reader) {
                        return DenseLayer::get(reader.getUse());
                      }) &&
         areMostlyZero(*data);
}

bool WeightForms::hasRoom(RankedTensorType type) const {
  return llvm::all_of(readers, [&](const WeightReader &reader) {
    return getPhysicalBytes(type) <= reader.room;
  });
}

/// Finds the forms that the readers can multiply by directly, if all readers
/// are dense layers.
void WeightForms::findProducts() {
  SmallVector<DenseLayer> layers;
  for (const WeightReader &reader : readers) {
    std::optional<DenseLayer> dense = DenseLayer::get(reader.getUse());
    if (!dense || (!layers.empty() && !dense->hasWeightsOf(layers.front())))
      return;
    layers.push_back(*dense);
  }
  auto data = TensorData::get(own);
  if (!data)
    return;
  for (StoredKind kind : kinds)
    for (StoredMatrix &matrix : storeMatrix(layers.front(), *data, kind)) {
      WeightForm form;
      form.bytes = static_cast<int64_t>(matrix.form.bytes.size());
      for (auto [dense, reader] : llvm::zip_equal(layers, readers)) {
        form.products.push_back(findStoredProduct(dense, matrix, *reader.cost));
        if (!form.products.back().routine)
          break;
      }
      form.stored = std::make_shared<StoredMatrix>(std::move(matrix));
      if (form.products.back().routine)
        products.push_back(std::move(form));
    }
}

std::optional<StoredForm> WeightForms::compress(const Packed &packed,
                                                StoredKind kind) {
  auto make = [&] {
    Type element = packed.type.getElementType();
    return StoredForm::get(kind, packed.elements,
                           static_cast<int>(getElementBytes(element)),
                           getRuns(packed.type));
  };
  if (getLayout(packed.type))
    return make();
  auto [known, isNew] =
      inOrder.try_emplace({packed.type, static_cast<int>(kind)});
  if (isNew)
    known->second = make();
  return known->second;
}

/// Returns the form of the given kind that is decoded to `type`.
WeightForm WeightForms::decode(RankedTensorType type, const Packed &packed,
                               StoredKind kind) {
  WeightForm form;
  form.type = type;
  std::optional<StoredForm> found = compress(packed, kind);
  if (!found)
    return form;
  form.isEstimate = type != packed.type;
  form.bytes = static_cast<int64_t>(found->bytes.size());
  MLIRContext *context = type.getContext();
  ShapeAttr shape = toAttribute(found->shape, context);
  DecodeCost cost = findDecode(shape, getStoredType(*found, context), type,
                               *readers.front().cost);
  form.decoder = cost.routine;
  form.decodeSeconds = cost.seconds;
  form.stored =
      std::make_shared<StoredMatrix>(StoredMatrix{std::move(*found), shape});
  form.exists = getPhysicalBytes(type) - form.bytes >= kLeastSaved &&
                form.decoder &&
                llvm::all_of(readers, [&](const WeightReader &reader) {
                  return getPhysicalBytes(type) <= reader.limit;
                });
  return form;
}

/// Returns the form of the given kind from which the readers decode a strip of
/// filters at a time, if all readers of `type` are convolutions.
WeightForm WeightForms::decodeStrips(RankedTensorType type,
                                     const Packed &packed,
                                     StoredKind kind) const {
  WeightForm form;
  form.type = type;
  const WeightReader &first = readers.front();
  const Candidate *fastest = nullptr;
  for (const Candidate &candidate : first.candidates)
    if (candidate.operands[first.operand] == type && !candidate.form &&
        !candidate.isView() &&
        ConvLayer::get(first.getUse(), candidate.routine->name) &&
        (!fastest || candidate.estimate < fastest->estimate))
      fastest = &candidate;
  if (!fastest)
    return form;
  ConvLayer conv = *ConvLayer::get(first.getUse(), fastest->routine->name);
  auto stored =
      storeFilters(conv, *fastest, packed.elements, kind, *first.cost);
  if (!stored)
    return form;
  form.bytes = static_cast<int64_t>(stored->form.bytes.size());
  form.stored = std::make_shared<StoredMatrix>(std::move(*stored));
  form.exists = true;
  auto canRead = [&](size_t reader) {
    return llvm::any_of(readers[reader].candidates, [&](const Candidate &each) {
      return getExtraSeconds(form, reader, each).has_value();
    });
  };
  form.exists = getPhysicalBytes(type) - form.bytes >= kLeastSaved &&
                llvm::all_of(llvm::seq(readers.size()), canRead);
  return form;
}

/// Adds the forms of a type. Unless `isExact`, they are estimated from the
/// weight in row-major order, which has the same elements in another order.
void WeightForms::addForms(RankedTensorType type, bool isExact) {
  WeightForm plain;
  plain.type = type;
  plain.bytes = getPhysicalBytes(type);
  plain.exists = true;
  std::vector<WeightForm> &all = forms[type];
  all.assign(1 + products.size() + kinds.size(), WeightForm());
  for (WeightForm &form : all)
    form.type = type;
  all.front() = plain;
  roomless.erase(type);
  ElementsAttr value = constants.lookup(type);
  auto data = value ? TensorData::get(value) : std::nullopt;
  if (!isOrdinary(type) || !data || getElementBytes(type.getElementType()) > 4)
    return;
  if (value == own)
    for (auto [form, product] : llvm::zip(llvm::drop_begin(all), products)) {
      form = product;
      form.type = type;
      form.exists = plain.bytes - product.bytes >= kLeastSaved;
    }
  // Decoding cannot make a layer faster, so it needs another aim than time.
  // Encoded types that are not likely to be chosen are not worth packing here.
  if (!mayDecode() || (!isExact && isEncodedType(type)))
    return;
  const bool isSmall = !hasRoom(type);
  Packed packed{type, data->getBytes()};
  SmallVector<char, 0> bytes;
  if (!isExact && !isSmall)
    packed.type = getLogicalType(type);
  else if (getLayout(type)) {
    bytes.resize(plain.bytes);
    storeWeight(type, *data, bytes.data());
    packed.elements = bytes;
  }
  bool hasNone = true;
  for (auto [form, kind] :
       llvm::zip(llvm::drop_begin(all, 1 + products.size()), kinds)) {
    // Strips take more time but less memory, so they are used only if memory is
    // short. When the aim is time, no decoding that would raise the peak memory
    // is used, as nobody has asked for fewer bytes of weights.
    if (isSmall)
      form = decodeStrips(type, packed, kind);
    if (!form.exists && (!isSmall || rules.aim != FormAim::time))
      form = decode(type, packed, kind);
    hasNone &= !form.exists;
  }
  if (isSmall && hasNone && llvm::none_of(products, [](const WeightForm &each) {
        return each.exists;
      }))
    roomless.insert(type);
}

void WeightForms::find(const DenseSet<Type> &likely) {
  findProducts();
  for (const WeightReader &reader : readers)
    for (const Candidate &candidate : reader.candidates)
      if (RankedTensorType type = candidate.operands[reader.operand];
          !forms.contains(type))
        addForms(type, likely.contains(type));
}

bool WeightForms::refine(RankedTensorType type) {
  if (llvm::none_of(forms[type], [](const WeightForm &form) {
        return form.exists && form.isEstimate;
      }))
    return false;
  addForms(type, /*isExact=*/true);
  return true;
}

std::optional<double>
WeightForms::getExtraSeconds(const WeightForm &form, size_t index,
                             const Candidate &candidate) const {
  const WeightReader &reader = readers[index];
  if (!form.exists || candidate.operands[reader.operand] != form.type)
    return std::nullopt;
  if (!form.stored)
    return 0;
  if (form.decoder)
    return form.decodeSeconds;
  if (candidate.form || candidate.isView())
    return std::nullopt;
  if (!form.products.empty()) {
    if (getLayout(candidate.operands[0]) || getLayout(candidate.result))
      return std::nullopt;
    return form.products[index].getExtra(candidate.estimate);
  }
  auto conv = ConvLayer::get(reader.getUse(), candidate.routine->name);
  if (!conv || conv->order != form.stored->order)
    return std::nullopt;
  return findStoredConv(*conv, candidate, *form.stored, *reader.cost);
}

void WeightForms::apply(ConstantOp constant, const WeightForm &form) {
  ElementsAttr &value = values[form.stored.get()];
  if (!value) {
    TensorData bytes = TensorData::allocate(
        getStoredType(form.stored->form, constant.getContext()));
    llvm::copy(form.stored->form.bytes,
               reinterpret_cast<uint8_t *>(bytes.getMutableBytes()));
    value = bytes.toAttribute(name);
  }
  OpBuilder builder(constant);
  auto stored = builder.create<ConstantOp>(
      constant.getLoc(), cast<RankedTensorType>(value.getType()), value);
  for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
    auto layer = cast<LayerOp>(use.getOwner());
    if (form.decoder) {
      builder.setInsertionPoint(layer);
      use.set(builder.create<DecodeOp>(
          constant.getLoc(), constant.getY().getType(), stored.getY(),
          form.stored->shape, builder.getStringAttr(form.decoder->name)));
    } else if (!form.products.empty()) {
      auto reader = llvm::find_if(readers, [&](const WeightReader &each) {
        return each.layer == layer;
      });
      readStored(*DenseLayer::get(use), *form.stored,
                 *form.products[reader - readers.begin()].routine,
                 stored.getY());
    } else {
      readStored(*ConvLayer::get(use, *layer.getRoutine()), *form.stored,
                 stored.getY());
    }
  }
  constant.erase();
}
