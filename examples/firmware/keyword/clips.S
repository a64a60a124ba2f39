/* The recorded clips, as they are. */
  .section .rodata.clips, "a"
  .balign 4
  .global yes_wav
yes_wav:
  .incbin "yes.wav"
  .balign 4
  .global no_wav
no_wav:
  .incbin "no.wav"

  .section .note.GNU-stack, "", %progbits
