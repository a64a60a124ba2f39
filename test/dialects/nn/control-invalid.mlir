// RUN: nnc-opt --split-input-file --verify-diagnostics %s

func.func @missing(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{runs @nothing, which is no private function with a body}}
  %0 = nn.if %c then @nothing else @nothing(%x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{runs @public, which is no private function with a body}}
  %0 = nn.if %c then @public else @public(%x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%c: tensor<2xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a condition of one bool, has 'tensor<2xi1>'}}
  %0 = nn.if %c then @body else @body(%x) : (tensor<2xi1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @body(%i: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{runs @body as a function of type '(tensor<i64>, tensor<5xf32>) -> tensor<5xf32>'; it is a '(tensor<i64>, tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = nn.loop @body max 3 carry(%x) : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @below {{carries a 'tensor<4xf32>', which becomes a 'tensor<5xf32>'}}
  %0 = nn.loop @body max 3 carry(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs to run at least once at most}}
  %0 = nn.loop @body max 0 carry(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is conditional and needs one bool as its first carried value}}
  %0 = nn.loop @body max 3 conditional carry(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{runs 3 times, but collects a 'tensor<2x4xf32>'}}
  %0:2 = nn.loop @body max 3 carry(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>)
  return %0#1 : tensor<2x4xf32>
}
