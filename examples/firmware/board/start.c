/* From reset to main() on a Cortex-M, for programs that newlib's semihosting
 * gives a console: the debugger or the emulator prints what they print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the linker script. */
extern uint32_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[],
    stack_end[];

int main(void);
void initialise_monitor_handles(void); /* of newlib's librdimon */

static void stop(void) { abort(); }

void reset(void) {
#ifdef __ARM_FP
  *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* switches the FPU on */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  memcpy(data_begin, data_load,
         (size_t)((char *)data_end - (char *)data_begin));
  memset(bss_begin, 0, (size_t)((char *)bss_end - (char *)bss_begin));
  initialise_monitor_handles();
  exit(main());
}

/* The core's own exceptions; this program enables no interrupts. */
struct vectors {
  uint32_t *stack;
  void (*handlers[15])(void);
};
__attribute__((section(".vectors"),
               used)) static const struct vectors vectors = {
    stack_end,
    {reset, stop, stop, stop, stop, stop, 0, 0, 0, 0, stop, stop, 0, stop,
     stop}};
