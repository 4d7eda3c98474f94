/* The model blob as a section of its own; ELF, any processor. */
#ifndef KILN_BLOB_FILE
#define KILN_BLOB_FILE "model.blob"
#endif

    .section .kiln_blob, "a", %progbits
    .balign 64
    .globl kiln_model_blob
kiln_model_blob:
    .incbin KILN_BLOB_FILE
blob_end:
    .balign 4
    .globl kiln_model_blob_bytes
kiln_model_blob_bytes:
    .4byte blob_end - kiln_model_blob

    .section .note.GNU-stack, "", %progbits
