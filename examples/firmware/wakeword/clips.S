/* The recorded clips, as they are. */
  .section .rodata.clips, "a"
  .balign 4
  .global hey_jarvis_wav
hey_jarvis_wav:
  .incbin "hey_jarvis.wav"
  .balign 4
  .global no_wav
no_wav:
  .incbin "no.wav"

  .section .note.GNU-stack, "", %progbits
