/* A plugin for QEMU's user mode: counts the guest's instructions into a file that the guest reads.
 *
 * The prototypes are those of QEMU's documented plugin interface ("QEMU TCG Plugins"); no header
 * of QEMU is needed. Each block of code adds its length when it starts, so a count includes the
 * rest of the block that reads it: the same each time. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define API __attribute__((visibility("default")))

struct qemu_plugin_tb;
typedef void (*translated)(uint64_t plugin, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned processor, void *context);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, translated call);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation,
                                              void *memory, uint64_t value);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed call, int flags,
                                          void *context);
int qemu_plugin_install(uint64_t plugin, const void *information, int count, char **arguments);

API int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t *counter;

/* Version 2 has no inline addition to memory of the plugin's own. */
#ifndef PLUGIN_INLINE
#define PLUGIN_INLINE (PLUGIN_VERSION < 2)
#endif

#if PLUGIN_INLINE
enum { ADD = 0 };

static void count_block(uint64_t plugin, struct qemu_plugin_tb *block) {
    (void)plugin;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, counter, qemu_plugin_tb_n_insns(block));
}
#else
enum { USES_NO_REGISTERS = 0 };

static void add(unsigned processor, void *instructions) {
    (void)processor;
    *counter += (uintptr_t)instructions;
}

static void count_block(uint64_t plugin, struct qemu_plugin_tb *block) {
    (void)plugin;
    void *instructions = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, add, USES_NO_REGISTERS, instructions);
}
#endif

/* Argument: counter=FILE, of at least 8 bytes. */
API int qemu_plugin_install(uint64_t plugin, const void *information, int count, char **arguments) {
    static const char key[] = "counter=";
    (void)information;
    if (count != 1 || strncmp(arguments[0], key, sizeof key - 1) != 0)
        return 1;
    int file = open(arguments[0] + sizeof key - 1, O_RDWR);
    if (file < 0)
        return 1;
    counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counter == MAP_FAILED)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, count_block);
    return 0;
}
