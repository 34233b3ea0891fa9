/* SPDX-License-Identifier: MIT */
/*
 * fuzz_export.c - whatever a log holds, each form of `pxtrace export` that no library makes is made of it, in
 * bounded memory.
 *
 * The first byte says whether checksums are made right, and which form with which options; the rest is the log.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/export/export.h"

#include <getopt.h>

#define SIGN 1u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const struct pxt_command *command;
	const char *option;
} forms[] = {
	{ &pxt_export_chrome, "--strict" },
	{ &pxt_export_chrome, "--counter=*" },
	{ &pxt_export_csv, "--thread-name" },
	{ &pxt_export_csv, "--no-payload" },
	{ &pxt_export_folded, "--strict" },
	{ &pxt_export_speedscope, "--strict" },
	{ &pxt_export_vcd, "--strict" },
	{ &pxt_export_vcd, "--counter=*" },
};
#define FORMS (sizeof forms / sizeof *forms)

static void export(unsigned form, const char *log)
{
	/* A counter's pattern is kept until the process ends, so it is given once. */
	static char kept[FORMS][32];
	const bool again = *kept[form] != 0;
	char name[] = "export";
	char strict[] = "--strict";
	char incomplete[] = "--incomplete";
	char output[] = "--output=/dev/null";
	char path[32];
	char *words[] = { name, kept[form], incomplete, output, path, NULL };

	(void)snprintf(kept[form], sizeof kept[form], "%s", forms[form].option);
	if (again && strstr(kept[form], "counter"))
		words[1] = strict;
	(void)snprintf(path, sizeof path, "%s", log);
	/* As if nothing had been read before. */
	optind = 0;
	(void)forms[form].command->run(5, words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *log;

	if (size < 1)
		return 0;
	log = malloc(size);
	if (!log)
		abort();
	memcpy(log, data + 1, size - 1);
	if (data[0] & SIGN)
		sign(log, size - 1);
	export(data[0] / 2 % FORMS, input_path(log, size - 1));
	free(log);
	return 0;
}
