//===- main.cpp - Runs an emitted module without an operating system ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// This file is built with -DNNC_MODEL=resnet50 -DNNC_MODEL_CONSTANTS=RESNET50
// and the number of its layers, -DNNC_MODEL_LAYERS=58, with -DNNC_MODEL_STATE=1
// for a module that keeps values between runs, and with -DNNC_MODEL_PLACED=1
// for one whose inputs and outputs are in the arena. NNC_MODEL_ARENAS is the
// bytes of the arena, or, with -DNNC_MODEL_MEMORIES=1, of its part in each of
// several memories.
//
//===----------------------------------------------------------------------===//

#include "firmware.h"

// Angle brackets prevent that a module called "firmware" is mistaken for the
// header above.
#define NNC_HEADER(name) <name.h>
#define NNC_PASTE2(a, b) a##b
#define NNC_PASTE(a, b) NNC_PASTE2(a, b)
#include NNC_HEADER(NNC_MODEL_HEADER)

using namespace firmware;

namespace {

using Inputs = NNC_PASTE(NNC_MODEL, _inputs);
using Outputs = NNC_PASTE(NNC_MODEL, _outputs);

#ifndef NNC_MODEL_STATE
#define NNC_MODEL_STATE 0
#endif
#ifndef NNC_MODEL_PLACED
#define NNC_MODEL_PLACED 0
#endif
#ifndef NNC_MODEL_SIZES
#define NNC_MODEL_SIZES 0
#endif
#ifndef NNC_MODEL_MEMORIES
#define NNC_MODEL_MEMORIES 0
#endif
#ifndef NNC_MODEL_ARENAS
#define NNC_MODEL_ARENAS NNC_PASTE(NNC_MODEL_CONSTANTS, _ARENA_BYTES)
#endif
#if NNC_MODEL_MEMORIES
using Arenas = NNC_PASTE(NNC_MODEL, _arenas);
#endif
#if NNC_MODEL_STATE
using State = NNC_PASTE(NNC_MODEL, _state);
constexpr size_t stateBytes = sizeof(State);
#else
constexpr size_t stateBytes = 0;
#endif

constexpr size_t arenaBytes[] = {NNC_MODEL_ARENAS};
constexpr size_t arenaCount = sizeof arenaBytes / sizeof arenaBytes[0];
constexpr size_t alignment = NNC_PASTE(NNC_MODEL_CONSTANTS, _ALIGN);

/// Memory between two guard areas of known bytes, which show whether the module
/// wrote outside of it.
class Guarded {
public:
  Guarded() = default;
  explicit Guarded(size_t bytes) : bytes(bytes) {
    // The address is a multiple of the alignment, but not of twice the
    // alignment, to expose code that needs more alignment than it asks for.
    auto *begin = static_cast<unsigned char *>(
        allocate(bytes + 2 * guard + alignment, 2 * alignment));
    own = begin + guard + alignment;
    fill(own - guard, guard);
    fill(own + bytes, guard);
    for (size_t i = 0; i < bytes; ++i)
      own[i] = pattern;
  }
  void *data() const { return own; }
  size_t size() const { return bytes; }
  bool isKept() const {
    for (size_t i = 0; i < guard; ++i)
      if (own[i - guard] != pattern || own[bytes + i] != pattern)
        return false;
    return true;
  }

private:
  static void fill(unsigned char *area, size_t count) {
    for (size_t i = 0; i < count; ++i)
      area[i] = pattern;
  }
  static constexpr size_t guard = 256;
  static constexpr unsigned char pattern = 0x5a;
  unsigned char *own = nullptr;
  size_t bytes = 0;
};

/// Returns the text after `option` in `argument`, or null if it is another
/// option.
char *valueOf(char *argument, const char *option) {
  for (; *option; ++option, ++argument)
    if (*argument != *option)
      return nullptr;
  return argument;
}

size_t toNumber(const char *text) {
  size_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + static_cast<size_t>(*text - '0');
  return number;
}

/// The arguments of a run, with the files that they are read from and written
/// to.
struct Call {
  static constexpr size_t sizeBytes = NNC_MODEL_SIZES * sizeof(int32_t),
                          inputFields =
                              (sizeof(Inputs) - sizeBytes) / sizeof(void *),
                          outputFields = sizeof(Outputs) / sizeof(void *);
  Guarded inputs[inputFields], outputs[outputFields], arenas[arenaCount], state;
  /// The bytes of all steps, by input; null for an input that is the same in
  /// each step.
  const unsigned char *data[inputFields];
  const char *outputPaths[outputFields];
  File files[outputFields]; ///< files of the outputs that have a path
  size_t inputCount = 0, outputCount = 0, steps = 1;

  void addInput(Guarded memory, const unsigned char *bytes = nullptr) {
    if (inputCount == inputFields)
      fail("there are too many inputs");
    data[inputCount] = bytes;
    inputs[inputCount++] = memory;
  }
  void addInput(const char *path, bool isFixed) {
    File file(path, File::read);
    const size_t size = file.size();
    if (isFixed || steps == 1) {
      Guarded memory(size);
      file.get(memory.data(), size);
      addInput(memory);
    } else {
      auto *bytes = static_cast<unsigned char *>(allocate(size, 1));
      file.get(bytes, size);
      addInput(Guarded(size / steps), bytes);
    }
    file.close();
  }
  static void copy(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      static_cast<unsigned char *>(to)[i] =
          static_cast<const unsigned char *>(from)[i];
  }
  /// Sets the inputs to their values of a step.
  void load(size_t step) const {
    for (size_t i = 0; i < inputFields; ++i)
      if (data[i])
        copy(inputs[i].data(), data[i] + step * inputs[i].size(),
             inputs[i].size());
  }
  void reset() const {
#if NNC_MODEL_STATE
    NNC_PASTE(NNC_MODEL, _reset)(static_cast<State *>(state.data()));
#endif
  }
  /// Parses PATH:BYTES. An output without a path is discarded.
  void addOutput(char *text) {
    char *colon = nullptr;
    for (char *c = text; *c; ++c)
      if (*c == ':')
        colon = c;
    if (!colon || outputCount == outputFields)
      fail("--output=[FILE]:BYTES, for each output");
    *colon = '\0';
    outputPaths[outputCount] = text;
    outputs[outputCount++] = Guarded(toNumber(colon + 1));
  }
  void addSize(const char *text) {
    if (sizeCount == NNC_MODEL_SIZES)
      fail("there are too many sizes");
    sizes[sizeCount++] = static_cast<int32_t>(toNumber(text));
  }
  int32_t sizes[NNC_MODEL_SIZES + 1];
  size_t sizeCount = 0;
  // The structs consist of pointers, followed by the sizes, if any.
  union {
    Inputs fields;
    void *pointers[inputFields];
  } in;
  union {
    Outputs fields;
    void *pointers[outputFields];
  } out;
  union {
#if NNC_MODEL_MEMORIES
    Arenas fields;
#endif
    void *pointers[arenaCount];
  } parts;
  /// Returns the arena as the module takes it: a pointer to the only part, or
  /// to the struct of all parts.
  auto arena() const {
#if NNC_MODEL_MEMORIES
    return &parts.fields;
#else
    return parts.pointers[0];
#endif
  }
  /// Allocates the memory of the arena and of each input and output.
  void place() {
    for (size_t i = 0; i < arenaCount; ++i) {
      arenas[i] = Guarded(arenaBytes[i]);
      parts.pointers[i] = arenas[i].data();
    }
    for (size_t i = 0; i < inputFields; ++i)
      in.pointers[i] = inputs[i].data();
    copy(reinterpret_cast<unsigned char *>(&in) + inputFields * sizeof(void *),
         sizes, sizeBytes);
    for (size_t i = 0; i < outputFields; ++i)
      out.pointers[i] = outputs[i].data();
#if NNC_MODEL_PLACED
    NNC_PASTE(NNC_MODEL, _place)(&in.fields, &out.fields, arena());
#endif
  }
  /// Fills the inputs that lie in the arena, because each run overwrites them.
  void prepare() const {
    for (size_t i = 0; i < inputFields; ++i)
      if (in.pointers[i] != inputs[i].data())
        copy(in.pointers[i], inputs[i].data(), inputs[i].size());
  }
  /// Runs the module, and returns the stack pointer that it was called with.
  const void *run() const {
    const void *const top = firmware::stackPointer();
#if NNC_MODEL_STATE
    const int status = NNC_PASTE(NNC_MODEL, _run)(
        &in.fields, &out.fields, static_cast<State *>(state.data()), arena());
#else
    const int status =
        NNC_PASTE(NNC_MODEL, _run)(&in.fields, &out.fields, arena());
#endif
    if (status != 0)
      fail("the module returned a status other than 0");
    return top;
  }
  void check() const {
    bool isKept = state.isKept();
    for (const Guarded &memory : arenas)
      isKept = isKept && memory.isKept();
    for (const Guarded &memory : inputs)
      isKept = isKept && memory.isKept();
    for (const Guarded &memory : outputs)
      isKept = isKept && memory.isKept();
    if (!isKept)
      fail("the module wrote outside of its arena, state, inputs or outputs");
  }
  void openOutputs() {
    for (size_t i = 0; i < outputFields; ++i)
      if (outputPaths[i][0])
        files[i] = File(outputPaths[i], File::write);
  }
  /// Appends the outputs of a step to those of the earlier steps.
  void write() const {
    for (size_t i = 0; i < outputFields; ++i)
      if (outputPaths[i][0])
        files[i].put(out.pointers[i], outputs[i].size());
  }
  void closeOutputs() {
    for (size_t i = 0; i < outputFields; ++i)
      if (outputPaths[i][0])
        files[i].close();
  }
};

const File *layerDump; ///< file for the outputs of layers, or null
/// The time of each layer, or null where layers are not timed.
uint64_t *layerTimes;
uint64_t layerStart;

/// Writes the output of a layer to the dump, or adds the time since the layer
/// before to that of this one, which a loop may run several times.
__attribute__((noinline)) void tellLayer(int layer, const void *output,
                                         size_t bytes) {
  if (layerDump) {
    const int64_t header[2] = {layer, static_cast<int64_t>(bytes)};
    layerDump->put(header, sizeof header);
    layerDump->put(output, bytes);
  }
  if (layerTimes) {
    layerTimes[layer] += now() - layerStart;
    layerStart = now(); // leaves out the time of the hook itself
  }
}

} // namespace

/// The function that a module built with -DNNC_HOOKS=1 calls after each layer.
/// It takes no stack while nothing is to be told, so that the stack that is
/// measured is that of the module.
void nnc_layer_done(const char *, int layer, const void *output, size_t bytes) {
  if (layerDump || layerTimes)
    tellLayer(layer, output, bytes);
}

/// Runs the module. Each line of the file that the emulator was given is an
/// argument.
int main() {
  startClock();
  char room[1024];
  File list(readCommandLine(room, sizeof room), File::read);
  const size_t length = list.size();
  char *text = static_cast<char *>(allocate(length + 1, 1));
  list.get(text, length);
  list.close();
  text[length] = '\0';

  static Call call;
  const char *layers = nullptr;
  size_t runs = 0;
  for (char *next = text; *next;) {
    char *line = next;
    while (*next && *next != '\n')
      ++next;
    if (*next)
      *next++ = '\0';
    if (const char *path = valueOf(line, "--input="))
      call.addInput(path, /*isFixed=*/false);
    else if (const char *path = valueOf(line, "--fixed="))
      call.addInput(path, /*isFixed=*/true);
    else if (const char *size = valueOf(line, "--size="))
      call.addSize(size);
    else if (const char *count = valueOf(line, "--steps="))
      call.steps = toNumber(count); // precedes the inputs
    else if (const char *bytes = valueOf(line, "--zeros=")) {
      Guarded memory(toNumber(bytes));
      for (size_t i = 0; i < memory.size(); ++i)
        static_cast<unsigned char *>(memory.data())[i] = 0;
      call.addInput(memory);
    } else if (char *output = valueOf(line, "--output="))
      call.addOutput(output);
    else if (const char *path = valueOf(line, "--layers="))
      layers = path;
    else if (const char *count = valueOf(line, "--runs="))
      runs = toNumber(count);
    else
      fail("unknown argument ", line);
  }
  if (call.inputCount != Call::inputFields ||
      call.sizeCount != NNC_MODEL_SIZES ||
      call.outputCount != Call::outputFields)
    fail("there are too few inputs or outputs");
  call.state = Guarded(stateBytes);
  call.place();

  if (layers) {
    File dump(layers, File::write);
    layerDump = &dump;
    call.reset();
    call.load(0);
    call.prepare();
    call.run();
    layerDump = nullptr;
    dump.close();
  }
  call.openOutputs();
  call.reset();
  for (size_t step = 0; step < call.steps; ++step) {
    call.load(step);
    call.prepare();
    if (step == 0) {
      paintStack();
      const void *top = call.run();
      print("stack ");
      print(static_cast<uint64_t>(measureStack(top)));
      print("\n");
    } else {
      call.run();
    }
    call.check();
    call.write();
  }
  call.closeOutputs();
  for (size_t run = 0; run < runs; ++run) {
    call.prepare();
    const uint64_t start = now();
    call.run();
    const uint64_t time = now() - start;
    print("run ");
    print(time);
    print("\n");
  }
  if (runs) {
    auto *const times = static_cast<uint64_t *>(
        allocate(NNC_MODEL_LAYERS * sizeof(uint64_t), alignof(uint64_t)));
    for (size_t layer = 0; layer < NNC_MODEL_LAYERS; ++layer)
      times[layer] = 0;
    call.prepare();
    layerTimes = times;
    layerStart = now();
    call.run();
    for (size_t layer = 0; layer < NNC_MODEL_LAYERS; ++layer) {
      print("layer ");
      print(static_cast<uint64_t>(layer));
      print(" ");
      print(times[layer]);
      print("\n");
    }
  }
  return 0;
}
