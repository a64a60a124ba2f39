// RUN: nnc-opt %s --pass-pipeline="builtin.module(nnc-qnn-fuse{target=x86-64-v3},nnc-qnn-legalize{target=x86-64-v3},func.func(nnc-qnn-canonicalize,nnc-simplify,nnc-legalize),func.func(nnc-form-layers))" --split-input-file -o %t.mlir
// RUN: nnc-opt %t.mlir --nnc-test-equivalence="passes=nnc-choose-routines{target=x86-64-v3 products=floats} whole tolerance=0" --split-input-file | FileCheck %s
// RUN: nnc-opt %s --pass-pipeline="builtin.module(nnc-qnn-fuse{target=x86-64-v4},nnc-qnn-legalize{target=x86-64-v4},func.func(nnc-qnn-canonicalize,nnc-simplify,nnc-legalize),func.func(nnc-form-layers))" --split-input-file -o %t.mlir
// RUN: nnc-opt %t.mlir --nnc-test-equivalence="passes=nnc-choose-routines{target=x86-64-v4 products=any} whole tolerance=0" --split-input-file
// RUN: nnc-opt %s --pass-pipeline="builtin.module(nnc-qnn-fuse{target=aarch64},nnc-qnn-legalize{target=aarch64},func.func(nnc-qnn-canonicalize,nnc-simplify,nnc-legalize),func.func(nnc-form-layers))" --split-input-file -o %t.mlir
// RUN: nnc-opt %t.mlir --nnc-test-equivalence="passes=nnc-choose-routines{target=aarch64 products=floats} whole tolerance=0" --split-input-file
// RUN: nnc-opt %s --pass-pipeline="builtin.module(nnc-qnn-fuse{target=armv7},nnc-qnn-legalize{target=armv7},func.func(nnc-qnn-canonicalize,nnc-simplify,nnc-legalize),func.func(nnc-form-layers))" --split-input-file -o %t.mlir
// RUN: nnc-opt %t.mlir --nnc-test-equivalence="passes=nnc-choose-routines{target=armv7 products=any} whole tolerance=0" --split-input-file
// RUN: nnc-opt %s --pass-pipeline="builtin.module(nnc-qnn-fuse{target=cortex-m4},nnc-qnn-legalize{target=cortex-m4},func.func(nnc-qnn-canonicalize,nnc-simplify,nnc-legalize),func.func(nnc-form-layers))" --split-input-file -o %t.mlir
// RUN: nnc-opt %t.mlir --nnc-test-equivalence="passes=nnc-choose-routines{target=cortex-m4 products=floats} whole tolerance=0" --split-input-file
// RUN: nnc-opt %t.mlir --nnc-choose-routines="target=cortex-m4 products=integers" --split-input-file | FileCheck %s --check-prefix=INTEGERS

// Products of integers whose search may take floats that hold them: results are
// the same, bit for bit, since the sums of products stay below 2^24.

// The padding is the zero point -20, which floats hold as 0; the bias makes up for
// it. The second convolution is padded by nothing, and reads what the first one
// stores, whose zero point is -128.
// CHECK-LABEL: @residual
// CHECK: nn.conv {{.*}}groups = 16{{.*}} -> tensor<1x16x7x9xf32>
// CHECK: nn.conv {{.*}}groups = 1 {{.*}} -> tensor<1x16x7x9xf32>
// INTEGERS-LABEL: @residual
// INTEGERS: nn.conv {{.*}} -> tensor<1x16x7x9xi32>
// INTEGERS: nn.conv {{.*}} -> tensor<1x16x7x9xi32>
func.func @residual(%x: tensor<1x16x7x9xf32>) -> tensor<1x16x7x9xf32> {
  %a_q = qnn.quantize half_even %x : tensor<1x16x7x9xf32> -> tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:-20>>
  %a = qnn.dequantize %a_q : tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:-20>> -> tensor<1x16x7x9xf32>
  %w1_i = nn.constant dense<"0xF903417389A55272C0D05EECC654C2E9250D96885D41560A51D5F44AA0CEA0F47AA3E2E767B401C3864090C800FC9E7B40769839CB0B6CC73AA9D378EC04CB9EED1FF547DD1D466AED8B38075FF6DE90F524455AB7184EC3D85715022C037B418EA60B52922F42495FB10E4DDCB1FB95B95B2B5C5760D0F91EC66B825625C138EA567FC8F8B73124584E7A7665A78BFB"> : tensor<16x1x3x3xi8>
  %w1_q = qnn.reinterpret %w1_i : tensor<16x1x3x3xi8> -> tensor<16x1x3x3x!quant.uniform<i8:f32, 0.01>>
  %w1 = qnn.dequantize %w1_q : tensor<16x1x3x3x!quant.uniform<i8:f32, 0.01>> -> tensor<16x1x3x3xf32>
  %c1 = nn.conv %a, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 16 : i64} : (tensor<1x16x7x9xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x7x9xf32>
  %d1_b = nn.constant dense<"0x52B89EBEE8FB493F9EEF173F52B81EBEBF9F1A3EC74B373E6310483F829573BF3208ACBC7368B13E1383C0BD2C87563FF0A7663FC74B273F986E92BD4260453F"> : tensor<1x16x1x1xf32>
  %d1 = nn.add %c1, %d1_b : tensor<1x16x7x9xf32>, tensor<1x16x1x1xf32>
  %e1_q = qnn.quantize half_even %d1 : tensor<1x16x7x9xf32> -> tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:-128>>
  %e1 = qnn.dequantize %e1_q : tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:-128>> -> tensor<1x16x7x9xf32>
  %w2_i = nn.constant dense<"0x9329C5BF2E4463B65F54D1904553F6AAA6E042D189313EAE0FE6008222C30EEC1C9CDD2244E287390127A9EE625ED122964FC5D8770B60B3427F94BFA6C2D09365C26B43AC3246A1A2E092ECFB2A12F5B916F557333A12DEC8F312DEA69C8CB4E8C9AED137D06B14A4786146A94A33423619D86B7B30DC00109497FD10B7C4A26A02C74975CC66454B0769A79777FDE73BCC23584DA0783C33B06CE571BC985715E4797983204E311A0509CFA5E5327076B4887C2C4250DC5D2425E2D8E237018685B2FE197847C9043F62F137B6F667E2854ACEF07FE3C3BC59B71BBD4E3821EDDD7343E487A1F2F6DF7BFA4BA1E0B9A510A4E32F4A0F1BCC5CB03B971AC1CA"> : tensor<16x16x1x1xi8>
  %w2_q = qnn.reinterpret %w2_i : tensor<16x16x1x1xi8> -> tensor<16x16x1x1x!quant.uniform<i8:f32, 0.01>>
  %w2 = qnn.dequantize %w2_q : tensor<16x16x1x1x!quant.uniform<i8:f32, 0.01>> -> tensor<16x16x1x1xf32>
  %c2 = nn.conv %e1, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x7x9xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x7x9xf32>
  %d2_b = nn.constant dense<"0x653B9FBE9CC4103F1D5A143F53B8FEBE2EB29D3D9A9959BFDACE473F92ED6C3F448B8CBE0BD7A33D7593983DF6280C3F806A5CBF69916D3D77BE2F3F1D5A643E"> : tensor<1x16x1x1xf32>
  %d2 = nn.add %c2, %d2_b : tensor<1x16x7x9xf32>, tensor<1x16x1x1xf32>
  %e2_q = qnn.quantize half_even %d2 : tensor<1x16x7x9xf32> -> tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:3>>
  %e2 = qnn.dequantize %e2_q : tensor<1x16x7x9x!quant.uniform<i8:f32, 0.05:3>> -> tensor<1x16x7x9xf32>
  %s = nn.add %e2, %a : tensor<1x16x7x9xf32>, tensor<1x16x7x9xf32>
  %e3_q = qnn.quantize half_even %s : tensor<1x16x7x9xf32> -> tensor<1x16x7x9x!quant.uniform<i8:f32, 0.1:-7>>
  %e3 = qnn.dequantize %e3_q : tensor<1x16x7x9x!quant.uniform<i8:f32, 0.1:-7>> -> tensor<1x16x7x9xf32>
  return %e3 : tensor<1x16x7x9xf32>
}

// -----

// The reshape passes on floats.
// CHECK-LABEL: @dense
// CHECK: nn.conv {{.*}} -> tensor<1x12x4x4xf32>
// CHECK: nn.reshape {{.*}} : tensor<1x12x4x4xf32> -> tensor<1x192xf32>
// CHECK: nn.matmul {{.*}} -> tensor<1x10xf32>
func.func @dense(%x: tensor<1x8x8x8xf32>) -> tensor<1x10xf32> {
  %a_q = qnn.quantize half_even %x : tensor<1x8x8x8xf32> -> tensor<1x8x8x8x!quant.uniform<u8:f32, 0.05:11>>
  %a = qnn.dequantize %a_q : tensor<1x8x8x8x!quant.uniform<u8:f32, 0.05:11>> -> tensor<1x8x8x8xf32>
  %w1_i = nn.constant dense<"0x0E896CB0DA2DF61217A984734FA82B033DA533377FC7EEA3848CF3AD3EB12009D5F47F75C774B84CD92C2658E27061869A9F25DCA8986A1989C328C443CA22994F3D0A26911BF58988EE392FADA8C0E3A486DD95B3B8E2EA8EF76862A4D1288613534990C69801764C4141D77AA2A3E3F6D7F85FF7EB2395646D861F7E9EA79D6BF775983022091EA1891E4E6649F66A892B03315EAA4787F691BF76E825747297DA7E41EC9126AB68C7F20DFE0F4E00D7ED4B13F777C1F57556138F0FE3770F131FE9C003E65472F726B216A891B58E5DB66AA42C7B9D81C9DEFD8F9224978CE292A695FCC65413D54EB3C5A4C9E953DD3F58A13A4EDA544EAEAA20EBB379BFACFEDE06D3FBF70A68B7EB4768C77369C70436CEB9ADF7FC39E0FE1F3E00AF8A0055138E9B54D050AB6CAD2AF3A9D6F1BAF1A02274E2F42D6EB4A8DB750B91EE79A0BC778E3108556ADCCD711B50887AEFB326FA3CE3CB1D6BC0229AAAFA902414E2407C6CE81ACD9750E7F8E9C634CA8672357655257DC8A93630B87CD37A0BAFE7A2DA0D7977AC2C1DE08A0D9851B6477DFE3AE95E328DE12EFFF1F3EB0835CACFFF03FEC337E41B084CA9A9C778EC88F9C74D86248A104C5E9FB3A99B87E5F5A3570E4A130AA2E437BF0E25EC7F6A1F5B4BB9BEAB9D6AE7A9CB42DBD015DDEC0EDA6D328150AA0A38BFE567CA9F76E5C46D37377694431A351639394ED7C6FB20D64D35632167EE672F99CEE03EF5DC6477EBBEC4C28611CA2048CC8614AB20D05A082DDDEA6212B59C1052478E6E345F7CA38D4A782D5AEC65879AABCD40CF966BD06EC2323F1FDC2497DDDF5CD4AC37FAD25831CE0A7563513C1EE9AFFCECF9B05FACA4DDED9F09BCF0A2192A00BBEA5A308FD41E1B873A92A22CD42D71D277167E498BD653476F58668337C02D4D386013F04AB80079BA31997D68104112AEEE52C5CD3F23E8DB4DB7D7ADCA93C79312928297AA553005DAA10706020B0AFF9AB595EF175FE7E27901E16E22BC543AA6FC0B49EADC160B0FDEB45D616A9222D37B253B1E54B765E1C6E67CA9E459FFB0AE72523DD68A305BB89CDAC1E2E7BD78893945EE737EBAB3AA9BD9B9960A2652DEC7100567025C976CE86F9F170D01BF8AA39B1806E95BE0EF8F8172B7AF4255A90CB315C9D41C6E5685B86419CA0879F288154F5034B8FBFF3A999A03924AFB7FBCFA63CCC01422DF529E2B06"> : tensor<12x8x3x3xi8>
  %w1_q = qnn.reinterpret %w1_i : tensor<12x8x3x3xi8> -> tensor<12x8x3x3x!quant.uniform<i8:f32, 0.01>>
  %w1 = qnn.dequantize %w1_q : tensor<12x8x3x3x!quant.uniform<i8:f32, 0.01>> -> tensor<12x8x3x3xf32>
  %c1 = nn.conv %a, %w1 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x4x4xf32>
  %e1_q = qnn.quantize half_even %c1 : tensor<1x12x4x4xf32> -> tensor<1x12x4x4x!quant.uniform<u8:f32, 0.05:0>>
  %e1 = qnn.dequantize %e1_q : tensor<1x12x4x4x!quant.uniform<u8:f32, 0.05:0>> -> tensor<1x12x4x4xf32>
  %f = nn.reshape %e1 : tensor<1x12x4x4xf32> -> tensor<1x192xf32>
  %w2_i = nn.constant dense<"0x6F4C5764877A9DDEC1C19A9DC6F0BF4E87BC7859623606B44D226252656E82AA11525E4662BF54CC8D7511DDE0CA3D38DEA2D3FC4EDCFE0BA61AEE243EEFDD6340563A6F5FF2703B45EEE6C893277172E74E30C91ABB694529346E5DF5A66B5C16EFB5C66ED8AF7E62740E966BD149387C8A758AA88CB95E75D62FD2644B00D2A43D13DF64CC8BE302ABBA94765FFC5E65F65430415CC4E40B362A413A94D7A47B4002349EB02753324DE7D503D7BA9D53F2E89C770B1720A21526933F1F6040D9A55A18425118B20069B278A4361C5FC2C6B22AC76DC98CC352AFBDA34D2B24D84DB2E7B4F3E66C0193BBA82279B6696DA68F796BC4AA6430679F871483C2D47B6EDC4A69E3795B1ACFBFD965B1DB752C4D9AF646C45F77FBE6F8B695EDDF38A845AA9C6C72D42DB690BA5652785A5611833AF95117D8631401C5949D6F8E738AFCE88E6E56263E01785A82C7F027C9129C233C3FD8958AF7A3A94E5B1B9BB76732BDA20A2C1B28B882A6033B3A1842FF348C624E415C6C09EA07896BAF6BCA088B869C9D05A4C1BDC9593E6F5AB75C89DF9D35175A26A762B47326CDC4C8B278DE63851BF0608D5FBFB3B8D5D5D7A009F9EB309FD7426D835C44CF6D8A5C4410BECBD515145E7F71CD7BF83E20F82FBCB79F18530B1028689E1DA12F7960526654576FC17541E56C417B247E0F742E54D2575CE5E82EA67C83AD2352BC2374A9B2C0D1187B5205206C74484C9FCFB84FE390616BD674F7D2FB02D32449588EE4BA6053C81EB40379DFBEA2DBF52D7CD5187B140D7D7762B17F4B74E72B57CE552177D9D84F8CA4ADF6E25776F4121AE69A5FC93A74272834DE3104484617498E5476CA14BD0D23680721116BB7B0D2E34098DC9742DF8C3473D9B627FA816BA2C1DEBA167C3A67FA08DE902C1B88C184B7346E341E68F2EE90FEDF055DA6CEABD3D61B2AC1C60F4645DACAB8F919135EDDFFBAF19EF41192708B85935D4676210BE0772334F10C54F72BF7432E21BCC437B5FEF82D9470EEBC34E79DC7FB8E071FD721207F121A23E69166E784ACCE32404EAA09DDBE5932D896BEF8644D94865BE2D149B541FDA8FC51761C40C1F6BC0FE9D2A77B26E3CB62AD280A6A57DB20EB87DF11537F749A53B7F40654393B7905B3AF52BDDC34E3B3E20F1C4EBE275C1C45C24E9F2D89DF8CECBCCE0F24ED98B50ACE88F6554C8228B48B02FBA7B0E15AA062FA0E793CD2302D5101C811BB123F4275A0BB5211AC0B22E0C1407BA2FFDFAFEEBD74B62FFD361B7F08BAF11AD59CB9AA51326953B2236C14274A8F74576D974F55EFB044A9BC2D676FC88B7A50CD94C4CED60AFCD8B478C4A362206EC7A80DF188EC27545729C7E9CE4AAF1BEFB6A44B95F72463A32A7DA7D3414315660B18EC982A1991F701006FE0B55FA38EE9950519E1AEFCF22D684B6C8E78E26F1E2E868773DB2452FC7CF385A6F3915F2E906C724B5886068AD103FC132A1B4460B5654C7D3BD6D0F8EB7E0E332C8F5668EB1EADB269D95614E727CDE9123EEE089B79905A32A7BC9BBF5A7B1B0879C1F02AAE848A7344C3961025F010C93D137181BD8CFC9C40AEB4419813A47E6E174A3BB47C856723D9D374BB68B36BF965D84C70201140666D6C5A666E00F31500099286E272D1A73E0E182F2D49100B7323C4534225D82B515A0C93030532877CA749887B5D10D5FA05AE491E30A36D06FD8C34565EAE9CBAF89697E80F87D0085716F8A1AAF75F45ED0F86EEC54AE2C387F1A4EBCCE2D798F016CC9FD28DF64BDA28406C4879859AAAA19A9DDA12DB90400B3B5C62F62FBF183A7ED724B7E468CEF18A8771B740A7E19A604E436BF78974C16447F29EED50A7129B6FDC78B78492CC3CFD7628302668E15E8625F70657DCE2FFFAD250AC65FF2129FC16D83D03D6918104B7F2CA920E4BE4A528FBBAF2F8D7816130E05D065BEC60FFB3C47B070D6CB0EA98AB93322348211B49E5286C0550AA543C4182FB29B6AB51A9BE68A66D0838DABB8EF8BFD9679EB0BDAC8FF27866BD98E38ABFB4279F101D44E68343B53E197014E953A69530DFCBE78203F3DA203C519BC0908ED0F097BBE551146A96C6F6700E141025882946433999CC6AF9883DB35545C02145D2ED757488607EDC1FDC6EFC487534A5E70C1A2678387E92B7192FF3A8D793782F9C2935B8B50D728500A8F427C0DD09AF5D3893E52896A694BA715A2593493B028FE8029D1F06A6974D96B947FAD9BEF143B4C1C1C39A846166C989E8D17425B4D58219CDDD426138A95585A79AE306D0187555F37414E7AC538CE862DF14A23F5E89D665250004827FE6C2230DB44AE0B15C52700F079B3B77F7EACFFA9F491376AEBFB1A3233E112D88F29D26DE71D4573411FF681E692B45419FB610021B0E61C804591D3637F096278FDE88FA9C5FC27E8DC919DA12D1F5B783510553A12F82614CB269B9931329998E75150B20D316197DB81D50AB8E6E57CD490AC0EFC24E1996FEDE54F16219CF6826CDB9D9BF2C8AB62B034CD2002046157D2FA4EE95BCE484771AF1BA938272E03BC67F2F0DCC0FDE5E390D2C2FA97216B66EF068ED5923C8D07514B304E7149E5E116439C830F882697B7BD0943E9E6D23474E06E50A7DA5ECE23E52CB2EC72A682EC6DA647A4AD6E9B0C92BADAC67796813909F1487A21ADB8B528EA2EA16F3BE5470A17D5EA1E8365A"> : tensor<192x10xi8>
  %w2_q = qnn.reinterpret %w2_i : tensor<192x10xi8> -> tensor<192x10x!quant.uniform<i8:f32, 0.01>>
  %w2 = qnn.dequantize %w2_q : tensor<192x10x!quant.uniform<i8:f32, 0.01>> -> tensor<192x10xf32>
  %m = nn.matmul %f, %w2 {transpose_a = false, transpose_b = false} : (tensor<1x192xf32>, tensor<192x10xf32>) -> tensor<1x10xf32>
  %e2_q = qnn.quantize half_even %m : tensor<1x10xf32> -> tensor<1x10x!quant.uniform<u8:f32, 0.3:100>>
  %e2 = qnn.dequantize %e2_q : tensor<1x10x!quant.uniform<u8:f32, 0.3:100>> -> tensor<1x10xf32>
  return %e2 : tensor<1x10xf32>
}

// -----

// CHECK-LABEL: @computed
// CHECK: nn.matmul {{.*}} -> tensor<2x6x5xf32>
func.func @computed(%x: tensor<2x6x16xf32>, %y: tensor<2x16x5xf32>) -> tensor<2x6x5xf32> {
  %a_q = qnn.quantize half_even %x : tensor<2x6x16xf32> -> tensor<2x6x16x!quant.uniform<i8:f32, 0.05:0>>
  %a = qnn.dequantize %a_q : tensor<2x6x16x!quant.uniform<i8:f32, 0.05:0>> -> tensor<2x6x16xf32>
  %b_q = qnn.quantize half_even %y : tensor<2x16x5xf32> -> tensor<2x16x5x!quant.uniform<i8:f32, 0.02:0>>
  %b = qnn.dequantize %b_q : tensor<2x16x5x!quant.uniform<i8:f32, 0.02:0>> -> tensor<2x16x5xf32>
  %m = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x6x16xf32>, tensor<2x16x5xf32>) -> tensor<2x6x5xf32>
  %e_q = qnn.quantize half_even %m : tensor<2x6x5xf32> -> tensor<2x6x5x!quant.uniform<i8:f32, 0.1:5>>
  %e = qnn.dequantize %e_q : tensor<2x6x5x!quant.uniform<i8:f32, 0.1:5>> -> tensor<2x6x5xf32>
  return %e : tensor<2x6x5xf32>
}

// -----

// CHECK-LABEL: @transposed
// CHECK: nn.conv_transpose {{.*}} -> tensor<1x4x10x10xf32>
func.func @transposed(%x: tensor<1x6x5x5xf32>) -> tensor<1x4x10x10xf32> {
  %a_q = qnn.quantize half_even %x : tensor<1x6x5x5xf32> -> tensor<1x6x5x5x!quant.uniform<i8:f32, 0.05:0>>
  %a = qnn.dequantize %a_q : tensor<1x6x5x5x!quant.uniform<i8:f32, 0.05:0>> -> tensor<1x6x5x5xf32>
  %w_i = nn.constant dense<"0xD1A73C8DB5F046B73DFA22521262FC9775C23CCEA3AD3CF8138EBEB36B9140F50270D2A80A6374D1233FBD57AE1B3A38C5225D6E87473FEC75CBEAA8D003D6BB54BCAF617B33000AF457B00637E50B2F7C1C79B63DD2CA10CBB8286AAD8CD660"> : tensor<6x4x2x2xi8>
  %w_q = qnn.reinterpret %w_i : tensor<6x4x2x2xi8> -> tensor<6x4x2x2x!quant.uniform<i8:f32, 0.01>>
  %w = qnn.dequantize %w_q : tensor<6x4x2x2x!quant.uniform<i8:f32, 0.01>> -> tensor<6x4x2x2xf32>
  %c = nn.conv_transpose %a, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x6x5x5xf32>, tensor<6x4x2x2xf32>) -> tensor<1x4x10x10xf32>
  %d_b = nn.constant dense<"0x631078BFCCA1753F32082CBD1F856B3E"> : tensor<1x4x1x1xf32>
  %d = nn.add %c, %d_b : tensor<1x4x10x10xf32>, tensor<1x4x1x1xf32>
  %e_q = qnn.quantize half_even %d : tensor<1x4x10x10xf32> -> tensor<1x4x10x10x!quant.uniform<i8:f32, 0.1:-3>>
  %e = qnn.dequantize %e_q : tensor<1x4x10x10x!quant.uniform<i8:f32, 0.1:-3>> -> tensor<1x4x10x10xf32>
  return %e : tensor<1x4x10x10xf32>
}

// -----

// The model defines the integers, which floats hold exactly.
// CHECK-LABEL: @defined
// CHECK: nn.conv {{.*}} -> tensor<1x4x6x6xf32>
func.func @defined(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xi8> {
  %a = qnn.reinterpret %x : tensor<1x4x6x6xi8> -> tensor<1x4x6x6x!quant.uniform<i8:f32, 0.05:-9>>
  %wi = nn.constant dense<"0x1FED1BFDAB73DC18AE2F7FF154FE657BFBEA877EE01CEA6A6A1425521D5202E344D4DF708BD4DB4865AE4AFD8DE1ECC7F6BD4C77EC2BF6F7A7133258532D3BA1EEB65764CA0F41170AAA7DA3B3B8AFD3880FD0DF4A2D17EE7E044073838B7F23E83CC9AE975CE1A0B54FE0B2EBEDD7E53412D322438BA0508E078D6BC9ACEEF26074FC223C02B6F81C6AD282457DA6F9"> : tensor<4x4x3x3xi8>
  %w = qnn.reinterpret %wi : tensor<4x4x3x3xi8> -> tensor<4x4x3x3x!quant.uniform<i8:f32, 0.01>>
  %c = qnn.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6x!quant.uniform<i8:f32, 0.05:-9>>, tensor<4x4x3x3x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x4x6x6x!quant.uniform<i32:f32, 5.0e-04>>
  %r = qnn.requantize real %c : tensor<1x4x6x6x!quant.uniform<i32:f32, 5.0e-04>> -> tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1:4>>
  %y = qnn.reinterpret %r : tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1:4>> -> tensor<1x4x6x6xi8>
  return %y : tensor<1x4x6x6xi8>
}

// -----

// Sums may be larger than 2^24, and the model defines them to the bit.
// CHECK-LABEL: @large
// CHECK: nn.conv {{.*}} -> tensor<1x4x6x6xi32>
func.func @large(%x: tensor<1x128x6x6xi8>) -> tensor<1x4x6x6xi8> {
  %a = qnn.reinterpret %x : tensor<1x128x6x6xi8> -> tensor<1x128x6x6x!quant.uniform<i8:f32, 0.05:-9>>
  %wi = nn.constant dense<127> : tensor<4x128x3x3xi8>
  %w = qnn.reinterpret %wi : tensor<4x128x3x3xi8> -> tensor<4x128x3x3x!quant.uniform<i8:f32, 0.01>>
  %c = qnn.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x128x6x6x!quant.uniform<i8:f32, 0.05:-9>>, tensor<4x128x3x3x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x4x6x6x!quant.uniform<i32:f32, 5.0e-04>>
  %r = qnn.requantize real %c : tensor<1x4x6x6x!quant.uniform<i32:f32, 5.0e-04>> -> tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1:4>>
  %y = qnn.reinterpret %r : tensor<1x4x6x6x!quant.uniform<i8:f32, 0.1:4>> -> tensor<1x4x6x6xi8>
  return %y : tensor<1x4x6x6xi8>
}


// -----

// The padding of the second convolution is the zero point of all that the pool and
// the concat move.
// CHECK-LABEL: @moved
// CHECK: nn.conv {{.*}} -> tensor<1x8x8x8xf32>
// CHECK: nn.conv {{.*}} -> tensor<1x4x4x4xf32>
func.func @moved(%x: tensor<1x8x8x8xf32>, %z: tensor<1x8x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %a_q = qnn.quantize half_even %x : tensor<1x8x8x8xf32> -> tensor<1x8x8x8x!quant.uniform<i8:f32, 0.05:4>>
  %a = qnn.dequantize %a_q : tensor<1x8x8x8x!quant.uniform<i8:f32, 0.05:4>> -> tensor<1x8x8x8xf32>
  %w1_i = nn.constant dense<"0x71202F65144655BA8FCDC95F69820052A24C9FF851CED8C738C17DF2FA01150E027E4E4B331FD77DF7B758A95B1D9E8CF28AA50478F74F6A5221F104C4FFE1C0"> : tensor<8x8x1x1xi8>
  %w1_q = qnn.reinterpret %w1_i : tensor<8x8x1x1xi8> -> tensor<8x8x1x1x!quant.uniform<i8:f32, 0.01>>
  %w1 = qnn.dequantize %w1_q : tensor<8x8x1x1x!quant.uniform<i8:f32, 0.01>> -> tensor<8x8x1x1xf32>
  %c1 = nn.conv %a, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %e1_q = qnn.quantize half_even %c1 : tensor<1x8x8x8xf32> -> tensor<1x8x8x8x!quant.uniform<i8:f32, 0.05:-6>>
  %e1 = qnn.dequantize %e1_q : tensor<1x8x8x8x!quant.uniform<i8:f32, 0.05:-6>> -> tensor<1x8x8x8xf32>
  %p_r = nn.max_pool %e1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
  %p_q = qnn.quantize half_even %p_r : tensor<1x8x4x4xf32> -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.05:-6>>
  %p = qnn.dequantize %p_q : tensor<1x8x4x4x!quant.uniform<i8:f32, 0.05:-6>> -> tensor<1x8x4x4xf32>
  %b_q = qnn.quantize half_even %z : tensor<1x8x4x4xf32> -> tensor<1x8x4x4x!quant.uniform<i8:f32, 0.05:-6>>
  %b = qnn.dequantize %b_q : tensor<1x8x4x4x!quant.uniform<i8:f32, 0.05:-6>> -> tensor<1x8x4x4xf32>
  %k_r = nn.concat %p, %b {axis = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
  %k_q = qnn.quantize half_even %k_r : tensor<1x16x4x4xf32> -> tensor<1x16x4x4x!quant.uniform<i8:f32, 0.05:-6>>
  %k = qnn.dequantize %k_q : tensor<1x16x4x4x!quant.uniform<i8:f32, 0.05:-6>> -> tensor<1x16x4x4xf32>
  %w2_i = nn.constant dense<"0x7E8499B2783161B438DFFD811E542AA809C57761B002705935248B3EF998BF0A3A021D5F2FDD25199C9029E319D3BAA7E251E7E1137AE517F11BF2230C2D74A710F1DCBE8EE75399E87773B7822C84CDFF5F982908A25858FC711B677512C8A610B2406DBF0D8DAFE1627824151290E07BE9B7BE368A786011F8430CFAD3F2408F8738DF4D8868A0EB779C283AEE9506EF5F2ED88F17C82F5DDB670508444A687FA7EA6FCF8213413E4F25A359EB595078845D21FC4B7303973ABBBAB2B369DD9CAEE5D9D0725D137CD7A4C69773B8F2B47BA90473056665443E141554ED7260E0E9376C9992C0EEAA050B733FC1494E2E2DD037A3216B78CDD51EE63BB4AC8DF8B7CD6A5057189D3F1A68FBAD18F529E0CFA07641F7BC21EA2298AF3C902DE981433350653B579D6B69314D3E606306516ACC8CAC88EF86C3C135C073B07811BF8ACE179CAB9E2D9786F5D012705B0A244FF028B81CBDB14313E18BBD4DF875665A858D14D757D2A89DCD20A14CCED02A5DF04CCEA15444406200B31613E323C41C4B99F4298E2269532F4DDDD49639D15EF764A4AAD987FE2629B7AA10227165E1AAC161F57E28189A17E258A3B1292E5406E1CFDF2A0ACCB736C0B6D55AF51895D840461460CDAA94B34367A200A258A224953D683BC557CF4155FC1F5BB086EFAF625EE0CF36F499293A92470953592CD6DF3991BB05714250B1C8C44009B63F23650FA163AF8F4CF325A238E87F23704B5797471AE5D024B3B05F421742D338B5F2A6E1D7ECFA89D858EF0B9BE3780C863945E28954C16BDDE34BA48842"> : tensor<4x16x3x3xi8>
  %w2_q = qnn.reinterpret %w2_i : tensor<4x16x3x3xi8> -> tensor<4x16x3x3x!quant.uniform<i8:f32, 0.01>>
  %w2 = qnn.dequantize %w2_q : tensor<4x16x3x3x!quant.uniform<i8:f32, 0.01>> -> tensor<4x16x3x3xf32>
  %c2 = nn.conv %k, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<4x16x3x3xf32>) -> tensor<1x4x4x4xf32>
  %d2_b = nn.constant dense<"0xE8FB593FBB497C3F40353EBF1D5A34BF"> : tensor<1x4x1x1xf32>
  %d2 = nn.add %c2, %d2_b : tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>
  %e2_q = qnn.quantize half_even %d2 : tensor<1x4x4x4xf32> -> tensor<1x4x4x4x!quant.uniform<i8:f32, 0.1:3>>
  %e2 = qnn.dequantize %e2_q : tensor<1x4x4x4x!quant.uniform<i8:f32, 0.1:3>> -> tensor<1x4x4x4xf32>
  return %e2 : tensor<1x4x4x4xf32>
}

// -----

// A convolution pads the second operand of the product with a number other than
// zero, by which floats that hold it are less: the sums would be others.
// CHECK-LABEL: @second
// CHECK: nn.matmul {{.*}} -> tensor<1x4x6x6xi32>
func.func @second(%x: tensor<1x4x6x6xi8>, %y: tensor<1x4x6x6xi8>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) {
  %w = nn.constant dense<3> : tensor<4x4x3x3xi8>
  %c = nn.conv %y, %w {accumulator = i32, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, fill = -9 : i64, groups = 1 : i64} : (tensor<1x4x6x6xi8>, tensor<4x4x3x3xi8>) -> tensor<1x4x6x6xi32>
  %0 = nn.cast %c : tensor<1x4x6x6xi32> to tensor<1x4x6x6xf32>
  %m = nn.matmul %x, %y {accumulator = i32, transpose_a = false, transpose_b = false} : (tensor<1x4x6x6xi8>, tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xi32>
  %1 = nn.cast %m : tensor<1x4x6x6xi32> to tensor<1x4x6x6xf32>
  return %0, %1 : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>
}

// -----

!x = tensor<1x4x6x6x!quant.uniform<i8:f32, 0.05>>
!w = tensor<4x4x1x1x!quant.uniform<i8:f32, 0.01>>
!s = tensor<1x4x6x6x!quant.uniform<i32:f32, 5.0e-04>>

// A cast between integers wraps around, unlike one of the floats that hold them.
// CHECK-LABEL: @wraps
// CHECK: nn.conv {{.*}} -> tensor<1x4x6x6xi32>
func.func @wraps(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xui8> {
  %i = nn.constant dense<"0x81057F330A11E7C14D2B99F0037E5A80"> : tensor<4x4x1x1xi8>
  %w = qnn.reinterpret %i : tensor<4x4x1x1xi8> -> !w
  %a = qnn.reinterpret %x : tensor<1x4x6x6xi8> -> !x
  %c = qnn.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (!x, !w) -> !s
  %r = qnn.requantize real %c : !s -> !x
  %y = qnn.reinterpret %r : !x -> tensor<1x4x6x6xi8>
  %u = nn.cast %y : tensor<1x4x6x6xi8> to tensor<1x4x6x6xui8>
  return %u : tensor<1x4x6x6xui8>
}

// CHECK-LABEL: @wraps_later
// CHECK: nn.conv {{.*}} -> tensor<1x4x6x6xf32>
// CHECK: %[[C:.*]] = nn.cast %{{.*}} : f32 to i8
// CHECK-NEXT: nn.cast %[[C]] : i8 to ui8
func.func @wraps_later(%x: tensor<1x4x6x6xi8>) -> (tensor<1x4x6x6xui8>, tensor<1x4x6x6xf32>) {
  %i = nn.constant dense<"0x81057F330A11E7C14D2B99F0037E5A80"> : tensor<4x4x1x1xi8>
  %w = qnn.reinterpret %i : tensor<4x4x1x1xi8> -> !w
  %a = qnn.reinterpret %x : tensor<1x4x6x6xi8> -> !x
  %c = qnn.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (!x, !w) -> !s
  %r = qnn.requantize real %c : !s -> !x
  %y = qnn.reinterpret %r : !x -> tensor<1x4x6x6xi8>
  %u = nn.cast %y : tensor<1x4x6x6xi8> to tensor<1x4x6x6xui8>
  %f = nn.cast %y : tensor<1x4x6x6xi8> to tensor<1x4x6x6xf32>
  %e = nn.exp %f : tensor<1x4x6x6xf32>
  return %u, %e : tensor<1x4x6x6xui8>, tensor<1x4x6x6xf32>
}

// -----

// A table between two products: its byte is an integer for a moment only.
// CHECK-LABEL: @table
// CHECK: nn.conv {{.*}} -> tensor<1x12x5x6xf32>
// CHECK: nn.cast %{{.*}} : f32 to [[B:u?i8]]
// CHECK-NEXT: nn.lookup %{{.*}} : [[B]] to [[B]]
// CHECK-NEXT: nn.cast %{{.*}} : [[B]] to f32
// CHECK: nn.conv {{.*}} -> tensor<1x4x5x6xf32>
func.func @table(%x: tensor<1x8x5x6xf32>) -> tensor<1x4x5x6xf32> {
  %a_q = qnn.quantize half_even %x : tensor<1x8x5x6xf32> -> tensor<1x8x5x6x!quant.uniform<u8:f32, 0.05:11>>
  %a = qnn.dequantize %a_q : tensor<1x8x5x6x!quant.uniform<u8:f32, 0.05:11>> -> tensor<1x8x5x6xf32>
  %w1_i = nn.constant dense<"0x82B70EEE7F1A5039BEF07EC2347F066ED08F5DC7512447E3404300026B6E545594A065685D64C4980BB8D4544A8721A99A01AD219EB59CF6A15EF6F15A1D830BB7CE09D6BBC004E7175C643C7DECB0B580EC37BC9712DD2E6AAEB94BAE8D2F9F"> : tensor<12x8x1x1xi8>
  %w1_q = qnn.reinterpret %w1_i : tensor<12x8x1x1xi8> -> tensor<12x8x1x1x!quant.uniform<i8:f32, 0.01>>
  %w1 = qnn.dequantize %w1_q : tensor<12x8x1x1x!quant.uniform<i8:f32, 0.01>> -> tensor<12x8x1x1xf32>
  %c1 = nn.conv %a, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x5x6xf32>, tensor<12x8x1x1xf32>) -> tensor<1x12x5x6xf32>
  %d1_b = nn.constant dense<"0xC9763E3F2B8746BFC3F5983FC1CA013F986E623FF85343BFB81E85BD7368613F2B87D6BF7B14CE3E60E5D83F14AEEFBF"> : tensor<1x12x1x1xf32>
  %d1 = nn.add %c1, %d1_b : tensor<1x12x5x6xf32>, tensor<1x12x1x1xf32>
  %e_q = qnn.quantize half_even %d1 : tensor<1x12x5x6xf32> -> tensor<1x12x5x6x!quant.uniform<u8:f32, 0.08:120>>
  %e_i = qnn.reinterpret %e_q : tensor<1x12x5x6x!quant.uniform<u8:f32, 0.08:120>> -> tensor<1x12x5x6xui8>
  %l_i = nn.lookup %e_i {table = dense<"0xB080E9D74A1C10FCAB6A4243D33656DEBE4C1ED79648E856E8F9A2F58C95F0CE4B39C15BFFAD5C2DFB8BB820B6119CBA8FF88796AE5B05F280A68CED93B6B28CB0D1B358E6BAAB485565B9F49028D557D79A8A0E6451E15C705C15F173541B4438A25CF76312D4EEB3C2246879BF00B3CF8ED13ABF129A3097AD96B442D6D1BDEF4850C3F465442EB300C337A648A6C0DBDD73FC95F5C2C451859AFE80D40AA39DFB9249F40C3EE37D961445C806F58C7CF2127DFA894F9296FCF33C08409990AC970DEDB3B843120181E9376107DBDAF6C5F3C86497EE219B01DD92F19F4954F4FEA94ED9182375882B200DAADB23CFF9193F3E70384495E04C5D5ED352226D"> : tensor<256xui8>} : tensor<1x12x5x6xui8> to tensor<1x12x5x6xui8>
  %l_q = qnn.reinterpret %l_i : tensor<1x12x5x6xui8> -> tensor<1x12x5x6x!quant.uniform<u8:f32, 0.02:9>>
  %l = qnn.dequantize %l_q : tensor<1x12x5x6x!quant.uniform<u8:f32, 0.02:9>> -> tensor<1x12x5x6xf32>
  %w2_i = nn.constant dense<"0x1637C2248F1D3CCC4405DD2EA1FAFAB4BF1C46964D947086207882914478BEE8C75B4309AE2B122E3FE87AC7ECF5A537"> : tensor<4x12x1x1xi8>
  %w2_q = qnn.reinterpret %w2_i : tensor<4x12x1x1xi8> -> tensor<4x12x1x1x!quant.uniform<i8:f32, 0.01>>
  %w2 = qnn.dequantize %w2_q : tensor<4x12x1x1x!quant.uniform<i8:f32, 0.01>> -> tensor<4x12x1x1xf32>
  %c2 = nn.conv %l, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x12x5x6xf32>, tensor<4x12x1x1xf32>) -> tensor<1x4x5x6xf32>
  %d2_b = nn.constant dense<"0xD9CE173F60E570BF6666E63EE17A64BF"> : tensor<1x4x1x1xf32>
  %d2 = nn.add %c2, %d2_b : tensor<1x4x5x6xf32>, tensor<1x4x1x1xf32>
  %r_q = qnn.quantize half_even %d2 : tensor<1x4x5x6xf32> -> tensor<1x4x5x6x!quant.uniform<u8:f32, 0.05:70>>
  %r = qnn.dequantize %r_q : tensor<1x4x5x6x!quant.uniform<u8:f32, 0.05:70>> -> tensor<1x4x5x6xf32>
  return %r : tensor<1x4x5x6xf32>
}
