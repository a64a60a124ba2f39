// RUN: nnc-opt --split-input-file --nnc-verify-memory --verify-diagnostics %s

// The second run finds what the first one has written over.
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.arena = 64 : i64} {
  %0 = nn.neg %w {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %y = nn.loop @body max 9 carry(%x) with(%0)
      {exec.places = [#exec.place<output at 0>]}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @body(%i: tensor<i64> {exec.place = #exec.place<arena at 48>},
                        %x: tensor<4xf32> {exec.place = #exec.place<output at 0>},
                        %w: tensor<4xf32> {exec.place = #exec.place<arena at 0>})
    -> tensor<4xf32> {
  // expected-error @below {{reads operand 1 at #exec.place<arena at 0>, where something else has been written by then}}
  %0 = nn.mul %x, %w {exec.place = #exec.place<arena at 16>} : tensor<4xf32>, tensor<4xf32>
  %1 = nn.neg %0 {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What comes behind a branch has to be right whichever ran.
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.arena = 64 : i64} {
  %0 = nn.neg %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %y = nn.if %c then @then else @else(%x)
      {exec.places = [#exec.place<arena at 32>]}
      : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{reads operand 0 at #exec.place<arena at 0>, where something else has been written by then}}
  %1 = nn.add %0, %y {exec.place = #exec.place<output at 0>} : tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @then(%x: tensor<4xf32> {exec.place = #exec.place<input[1] at 0>})
    -> tensor<4xf32> {
  %0 = nn.neg %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @else(%x: tensor<4xf32> {exec.place = #exec.place<input[1] at 0>})
    -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {exec.arena = 64 : i64} {
  %y:2 = nn.loop @body max 9 carry(%x, %w)
      {exec.places = [#exec.place<output at 0>, #exec.place<output[1] at 0>]}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @body(%i: tensor<i64> {exec.place = #exec.place<arena at 48>},
                        %x: tensor<4xf32> {exec.place = #exec.place<output at 0>},
                        %w: tensor<4xf32> {exec.place = #exec.place<output[1] at 0>})
    -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{has too little scratch to exchange carried values: run nnc-plan-memory again, or give it exec.scratch of 32 bytes}}
  return %w, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {exec.arena = 64 : i64} {
  %0 = nn.if %c then @body else @other(%x) {exec.places = [#exec.place<output at 0>]}
      : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{runs @body, which is run in another place, too; give each of them a function of its own}}
  %1 = nn.if %c then @body else @other(%x) {exec.places = [#exec.place<output[1] at 0>]}
      : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
