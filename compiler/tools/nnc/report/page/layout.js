// Places the nodes of a graph in rows, so that values flow downwards.
//
// The steps are Sugiyama's: a row for each node, by the longest path; points at
// which long edges pass the rows between; an order in each row with few
// crossings, by the mean place of neighbours; and places along the rows that are
// near these neighbours, by least squares under the order.

const ROW_GAP = 44, NODE_GAP = 26, POINT_WIDTH = 16;

/** Rows by the longest path; what nothing is read by stands above its reader. */
function rankNodes(nodes) {
  const order = [...nodes].sort((a, b) => orderOf(a) - orderOf(b));
  for (const node of order) {
    node.rank = 0;
    for (const edge of node.in) node.rank = Math.max(node.rank, edge.from.rank + 1);
  }
  for (const node of order.reverse())
    if (!node.in.length && node.out.length)
      node.rank = Math.min(...node.out.map((edge) => edge.to.rank)) - 1;
  const first = Math.min(...nodes.map((node) => node.rank));
  for (const node of nodes) node.rank -= first;
}
/** Inputs, then layers as they run, then outputs: edges lead from low to high. */
function orderOf(node) {
  if (!node.item.port) return node.item.number;
  return /^(input|state)$/.test(node.item.kind) ? -1e9 + node.item.number : 1e9 + node.item.number;
}

/** Adds the points of long edges. Those of one value are shared. */
function addPoints(nodes) {
  const all = [...nodes], links = [];
  for (const node of nodes) {
    const points = [node];
    const last = Math.max(node.rank, ...node.out.map((edge) => edge.to.rank));
    for (let rank = node.rank + 1; rank < last; ++rank) {
      const point = { rank, width: POINT_WIDTH, height: 0, point: true };
      links.push([points[points.length - 1], point]);
      points.push(point);
      all.push(point);
    }
    for (const edge of node.out) {
      edge.path = points.slice(0, edge.to.rank - node.rank);
      links.push([edge.path[edge.path.length - 1], edge.to]);
    }
  }
  for (const node of all) {
    node.up = [];
    node.down = [];
  }
  for (const [from, to] of links) {
    from.down.push(to);
    to.up.push(from);
  }
  return all;
}

function makeRows(all) {
  const rows = [];
  for (const node of all) (rows[node.rank] = rows[node.rank] || []).push(node);
  for (let rank = 0; rank < rows.length; ++rank) rows[rank] = rows[rank] || [];
  return rows;
}

const number = (rows) => rows.forEach((row) => row.forEach((node, i) => { node.at = i; }));

function countCrossings(rows) {
  let crossings = 0;
  for (const row of rows) {
    const ends = [];
    for (const node of row) ends.push(...node.down.map((other) => other.at).sort((a, b) => a - b));
    if (ends.length > 400) continue;
    for (let i = 0; i < ends.length; ++i)
      for (let j = i + 1; j < ends.length; ++j) crossings += ends[i] > ends[j] ? 1 : 0;
  }
  return crossings;
}

function orderRows(rows) {
  number(rows);
  let best = null, least = Infinity;
  for (let sweep = 0; sweep < 12 && least > 0; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      for (const node of row) {
        const others = isDown ? node.up : node.down;
        node.key = others.length
          ? others.reduce((sum, other) => sum + other.at, 0) / others.length : node.at;
      }
      row.sort((a, b) => a.key - b.key || a.at - b.at);
      row.forEach((node, i) => { node.at = i; });
    }
    const crossings = countCrossings(rows);
    if (crossings < least) {
      least = crossings;
      best = rows.map((row) => [...row]);
    }
  }
  best.forEach((row, rank) => { rows[rank] = row; });
  number(rows);
}

/** Places a row nearest to what its nodes want, in its order and without
 * overlaps: isotonic regression by pooling neighbours that would overlap. */
function placeRow(row) {
  const groups = [];
  let offset = 0;
  row.forEach((node, i) => {
    if (i > 0) {
      const gap = node.point && row[i - 1].point ? 4 : NODE_GAP;
      offset += (row[i - 1].width + node.width) / 2 + gap;
    }
    node.offset = offset;
    groups.push({ sum: node.weight * (node.wish - offset), weight: node.weight, count: 1 });
    while (groups.length > 1) {
      const last = groups[groups.length - 1], before = groups[groups.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
      groups.pop();
    }
  });
  let i = 0;
  for (const group of groups)
    for (let n = 0; n < group.count; ++n, ++i)
      row[i].x = group.sum / group.weight + row[i].offset;
}

function placeNodes(rows) {
  for (const row of rows) {
    for (const node of row) Object.assign(node, { wish: 0, weight: 1 });
    placeRow(row);
  }
  for (let sweep = 0; sweep < 16; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      for (const node of row) {
        const others = sweep > 11 ? [...node.up, ...node.down] : isDown ? node.up : node.down;
        // Long edges are to be straight.
        let sum = 0, weight = 0;
        for (const other of others) {
          const pull = node.point && other.point ? 8 : 1;
          sum += pull * other.x;
          weight += pull;
        }
        node.wish = weight ? sum / weight : node.x;
        node.weight = weight || 0.1;
      }
      placeRow(row);
    }
  }
  let y = 0;
  for (const row of rows) {
    const height = Math.max(0, ...row.map((node) => node.height));
    for (const node of row) {
      node.y = y + height / 2;
      if (node.point) node.height = height;
    }
    y += height + ROW_GAP;
  }
}

/** Sets x, y (of centres) and rank of each of `nodes`, and the path of each of
 * their edges; a node has its width, height, item and edges in `in` and `out`. */
function layOut(nodes) {
  if (!nodes.length) return { left: 0, top: 0, width: 1, height: 1, rows: [] };
  rankNodes(nodes);
  const all = addPoints(nodes);
  const rows = makeRows(all);
  orderRows(rows);
  placeNodes(rows);
  const left = Math.min(...all.map((n) => n.x - n.width / 2));
  const right = Math.max(...all.map((n) => n.x + n.width / 2));
  const bottom = Math.max(...all.map((n) => n.y + n.height / 2));
  return { left, top: 0, width: right - left, height: bottom, rows };
}
