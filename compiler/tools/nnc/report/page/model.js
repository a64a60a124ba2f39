// A document with what views ask of it.

/** Kinds of layers: a name, and what of a layer's ops or routine tells it. */
const KINDS = [
  ["move", "Copy, layout", /memcpy|adapt|transpose|^copy|gather|slice|concat|pad|view|expand|tile/],
  ["conv", "Convolution", /conv/],
  ["matmul", "Matrix product, attention", /matmul|gemm|attention|dense|lstm|gru|rnn/],
  ["pool", "Pooling, reduction", /pool|reduce|mean|sum_|arg_?max|topk|top_k/],
  ["normalize", "Softmax, norm", /softmax|norm/],
  ["elementwise", "Elementwise", /elementwise|pointwise|map|nn\./],
  ["other", "Other", /./]
];

function findKind(layer) {
  const texts = [layer.what, layer.ops[0] || "", layer.routine];
  for (const text of texts)
    for (const [kind, , pattern] of KINDS)
      if (text && kind !== "other" && kind !== "elementwise" && pattern.test(text)) return kind;
  return layer.ops.length || /elementwise/.test(layer.routine) ? "elementwise" : "other";
}

/** What a layer computes, in short: "conv + add + relu". */
function opsText(layer) {
  const words = layer.ops.map((op) => op.replace(/^[a-z]+\./, ""));
  if (!words.length) return layer.what || layer.routine;
  return words.length > 6 ? `${words.slice(0, 4).join(" + ")} + … (${words.length})` : words.join(" + ");
}

/** A document whose layers know their number, kind, cost and neighbours. */
function makeModel(source) {
  const model = {
    source, name: source.name, layers: source.layers, ports: source.ports, arena: source.arena,
    machine: source.machine, totals: source.totals, measured: source.measured
  };
  const times = model.measured ? model.measured.layers : [];
  model.isCounted = Boolean(model.measured) && model.measured.unit === "instructions";
  model.nodes = [];
  model.layers.forEach((layer, number) => {
    Object.assign(layer, {
      number, kind: findKind(layer), measured: number in times ? times[number] : null,
      reads: [], readers: []
    });
    layer.cost = layer.measured === null ? layer.seconds || 0 : layer.measured;
    model.nodes.push(layer);
  });
  for (const port of model.ports) {
    Object.assign(port, { port: true, number: model.nodes.length, reads: [], readers: [] });
    model.nodes.push(port);
  }
  for (const edge of source.edges) {
    if (!model.nodes[edge.from] || !model.nodes[edge.to]) continue;
    model.nodes[edge.from].readers.push(edge);
    model.nodes[edge.to].reads.push(edge);
  }
  const sum = (key) => model.layers.reduce((all, layer) => all + (layer[key] || 0), 0);
  model.cost = sum("cost");
  model.estimate = sum("seconds");
  model.slowest = model.layers.reduce((a, b) => (!a || b.cost > a.cost ? b : a), null);
  model.largestCost = model.slowest ? model.slowest.cost : 0;
  // The first layer that uses a weight is charged with it.
  for (const layer of model.layers)
    layer.ownBytes = layer.weights.reduce((all, w) => all + (w.shared ? 0 : w.bytes), 0);
  findUse(model);
  return model;
}

/** Sets `inUse` of each layer: the bytes of the arena that hold something. */
function findUse(model) {
  for (const layer of model.layers) {
    const spans = placesAt(model, layer.number).map((p) => [p.offset, p.offset + p.bytes]);
    spans.sort((a, b) => a[0] - b[0]);
    let end = 0;
    layer.inUse = 0;
    for (const [from, to] of spans) {
      layer.inUse += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
  }
}
function placesAt(model, number) {
  return model.arena.places.filter((place) => place.first <= number && number <= place.last);
}

/** Seconds, or instructions where an emulator counted these. */
function costText(model, value) {
  return model.isCounted ? `${count(value)} instructions` : seconds(value);
}
const shareOf = (model, layer) => (model.cost > 0 ? layer.cost / model.cost : 0);
/** The operations that a roofline counts. */
const workOf = (layer) => layer.multiply_adds || layer.operations;
const trafficOf = (layer) => layer.activation_bytes + layer.weight_bytes;
