# Firmware of several modules that nnc writes, for a Cortex-M4. A Makefile includes it that
# says what there is:
#
#   MODULES        the modules; vpath finds their models, %.tflite
#   PARTS          what there is to compile of them: NAME, NAME_weights, NAME_custom
#   CLIPS          recorded sounds that clips.S includes
#
# Targets: the firmware, run, size, count and clean. NNC=path/to/nnc where it is not in PATH.
NNC ?= nnc
CROSS ?= arm-none-eabi-
BUILD ?= build
OPTIMIZE ?= -O2

BOARD := $(dir $(lastword $(MAKEFILE_LIST)))
LIBS := $(MODULES:%=$(BUILD)/%)

CC := $(CROSS)gcc
CXX := $(CROSS)g++
CPU := -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16
CPPFLAGS := $(LIBS:%=-I%) -I$(BOARD) $(addprefix -I,$(sort $(dir $(CLIPS)))) -MMD -MP
CFLAGS := $(CPU) $(OPTIMIZE) -std=c11 -Wall -Wextra -ffunction-sections -fdata-sections
CXXFLAGS := $(CPU) $(OPTIMIZE) -std=c++17 -Wall -Wextra -ffunction-sections -fdata-sections \
            -fno-exceptions -fno-rtti -ffp-contract=off -fno-math-errno
LDFLAGS := $(CPU) --specs=nano.specs --specs=rdimon.specs -nostartfiles \
           -T$(BOARD)mps2-an386.ld -Wl,--gc-sections

MODULE_OBJECTS := $(PARTS:%=$(BUILD)/%.o)
OBJECTS := $(addprefix $(BUILD)/,main.o clips.o start.o) $(MODULE_OBJECTS)

$(BUILD)/firmware.elf: $(OBJECTS) $(BOARD)mps2-an386.ld
	$(CC) $(LDFLAGS) $(OBJECTS) -lm -o $@

$(BUILD)/main.o: main.c $(LIBS:%=%/manifest.json)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BUILD)/clips.o: clips.S $(CLIPS) | $(LIBS:%=%/manifest.json)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(BUILD)/start.o: $(BOARD)start.c | $(LIBS:%=%/manifest.json)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# nnc writes a folder at once.
$(BUILD)/%/manifest.json: %.tflite
	@mkdir -p $(BUILD)
	$(NNC) compile $< --target=cortex-m4 -o $(@D)

define compile_module
$(BUILD)/$(1).o: $(BUILD)/$(1)/manifest.json
	$$(CXX) $$(CPPFLAGS) $$(CXXFLAGS) -c $(BUILD)/$(1)/$(1).cpp -o $$@
$(BUILD)/$(1)_%.o: $(BUILD)/$(1)/manifest.json
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) -c $(BUILD)/$(1)/$(1)_$$*.c -o $$@
endef
$(foreach module,$(MODULES),$(eval $(call compile_module,$(module))))

.PHONY: run size count clean
run: $(BUILD)/firmware.elf
	qemu-system-arm -M mps2-an386 -display none -monitor none -serial none \
	  -semihosting-config enable=on,target=native -kernel $<
size: $(BUILD)/firmware.elf
	$(CROSS)size $(MODULE_OBJECTS) $<
count: $(MODULES:%=%.tflite)
	for model in $^; do $(NNC) bench $$model --target=cortex-m4 \
	  --compiler="$(CROSS)g++ $(OPTIMIZE)" || exit 1; done
clean:
	rm -rf $(BUILD)

# These are written with the objects.
$(OBJECTS:.o=.d): ;
-include $(OBJECTS:.o=.d)
