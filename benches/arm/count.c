/* A plugin of qemu-user that counts how often each instruction is executed, exactly and without a clock.
 *
 *     qemu-aarch64 -plugin libcount.so,out=FILE PROGRAM...
 *
 * FILE gets a line with the address at which the program's code begins, and then a line for each block of instructions
 * that follow each other: its address, how many instructions it has, and how often it was run. The counters are not
 * atomic: a program whose threads run at the same time loses some. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is needed of qemu-plugin.h, which Debian's package leaves out (interface version 1, qemu 7.0 and later). */
typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *), void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *counter,
                                              uint64_t step);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_start_code(void);

int qemu_plugin_version = 1;

struct block {
    struct block *next;
    uint64_t address, instructions, runs;
};

/* qemu translates under a lock, so the list needs none. */
static struct block *blocks;
static const char *out_path;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *block = calloc(1, sizeof *block);
    (void)id;
    if (!block)
        abort();
    block->next = blocks;
    block->address = qemu_plugin_tb_vaddr(tb);
    block->instructions = qemu_plugin_tb_n_insns(tb);
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &block->runs, 1);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
    FILE *out = fopen(out_path, "w");
    (void)id, (void)data;
    if (!out) {
        perror(out_path);
        return;
    }
    fprintf(out, "%" PRIu64 "\n", qemu_plugin_start_code());
    for (const struct block *block = blocks; block; block = block->next)
        if (block->runs)
            fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", block->address, block->instructions, block->runs);
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments)
{
    (void)info;
    if (count != 1 || strncmp(arguments[0], "out=", 4)) {
        fprintf(stderr, "usage: -plugin libcount.so,out=FILE\n");
        return 1;
    }
    out_path = strdup(arguments[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
