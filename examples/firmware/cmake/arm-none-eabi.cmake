# A toolchain for a Cortex-M4 with floats of single precision.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
# CMake's trial program would need a linker script.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(cpu "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "${cpu} -ffunction-sections -fdata-sections")
endforeach()
