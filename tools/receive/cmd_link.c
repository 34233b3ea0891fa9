/* SPDX-License-Identifier: MIT */
/* cmd_link.c - pxtrace link: orders to a target over the line that its log comes on. */
#include "tools/command/command.h"
#include "tools/output/out.h"

#include "format/crc32.h"
#include "format/order.h"
#include "tools/line/device.h"
#include "tools/line/frame.h"

#include <string.h>
#include <unistd.h>

#define READ_BYTES 4096u
#define SLICE_MS   50
#define AGAIN_MS   1000u
#define WRITE_MS   1000

static const char *const help[] = {
	"usage: pxtrace link LINE start|stop|flush|stat [OPTION]...\n"
	"       pxtrace link LINE filter add|sub|set TYPE... [OPTION]...\n"
	"       pxtrace link LINE filter none [OPTION]...\n"
	"\n"
	"Gives a board orders over the line that its log comes on. Its program hands what the\n"
	"line brings to posix_trace_link_np(), in a build with LOG_LINK.\n"
	"\n"
	"  start, stop  events are recorded from now on, or no more\n"
	"  flush        what the stream holds goes over the line\n"
	"  stat         tells whether it runs, and its counts\n"
	"  filter       types of events that are left out, as `pxtrace filter` has it; TYPE is\n"
	"               a name or a pattern ('net_*')\n"
	"\n"
	"LINE is serial:DEV,BAUD, tcp:HOST:PORT or tcp-listen:[HOST:]PORT, as for\n"
	"`pxtrace receive`. An order without an answer is given again every second. Until the\n"
	"answer comes, events that the line brings are passed over: where `pxtrace receive`\n"
	"reads the line at the same time, use --no-answer.\n"
	"\n"
	"options:\n"
	"      --console       what comes is a console: the answer is in lines with PTL:\n"
	"      --no-answer     gives the order once and reads nothing\n"
	"      --wait SECONDS  how long an answer is waited for (5)\n"
	"  -h, --help          this text\n"
	"\n"
	"  $ pxtrace link serial:/dev/ttyUSB0,115200 start\n"
	"\n"
	"exit status: 0 done, 1 usage, 2 no answer came, or the target refused,\n"
	"4 the output could not be written\n",
	NULL,
};

struct link {
	struct pxt_linkdevice line;
	struct pxt_linkanswer answer;
	char **types; /* of the command line */
	unsigned char order[PXT_ORDER_BYTES];
	uint32_t bytes;
	uint64_t wait_s;
	bool silent;
};

static uint64_t now_ms(void)
{
	return (uint64_t)pxt_when_monotonic() / 1000000u;
}

/* ---- The order ---- */

/* Delimiters on both sides: what came before may be noise, or text. */
static bool give(struct link *link)
{
	unsigned char stuffed[1 + PXT_ORDER_BYTES + 3] = { PXT_FRAME_DELIMITER };
	size_t count = 1 + pxt_linkframe_stuff(link->order, link->bytes, stuffed + 1);

	return pxt_linkdevice_write(&link->line, stuffed, count, WRITE_MS);
}

/* False: the device cannot be read. */
static bool listen_a_while(struct link *link)
{
	unsigned char bytes[READ_BYTES];
	size_t count;
	enum pxt_linkdevice_news news =
	    pxt_linkdevice_read(&link->line, bytes, sizeof bytes, &count, SLICE_MS);

	if (news == PXT_FROM_BYTES)
		pxt_linkanswer_bytes(&link->answer, bytes, count);
	return news != PXT_FROM_ERROR && news != PXT_FROM_END;
}

static int no_answer(const struct link *link, bool given)
{
	if (link->line.fd < 0)
		pxt_complain("link: %s: it is not there", link->line.text);
	else if (!given)
		pxt_complain("link: %s: it takes no bytes", link->line.text);
	else
		pxt_complain("link: %s: no answer", link->line.text);
	if (given && !link->answer.has_head)
		pxt_explain(
		    "does the program call posix_trace_link_np(), in a build with LOG_LINK, "
		    "and is the speed right?");
	return PXT_EXIT_LOG;
}

static int converse(struct link *link)
{
	uint64_t begun = now_ms();
	uint64_t next = begun;
	bool given = false;

	while (!link->answer.answered && now_ms() - begun < link->wait_s * 1000u) {
		if (link->line.fd >= 0 && now_ms() >= next) {
			given = give(link);
			next = now_ms() + AGAIN_MS;
		}
		if (given && link->silent)
			return PXT_EXIT_OK;
		if (!listen_a_while(link))
			return PXT_EXIT_LOG;
	}
	return link->answer.answered ? PXT_EXIT_OK : no_answer(link, given);
}

/* ---- What the user is told ---- */

static int show_counts(const struct pxt_order_answer *answer)
{
	static const char *const states[] = { "stopped", "running", "stopped by itself" };
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	pxt_out_format(&out, "%s: %llu events recorded, %llu of them sent, %llu lost\n",
	    answer->state < 3 ? states[answer->state] : "in a state of a later version",
	    (unsigned long long)answer->written, (unsigned long long)answer->retrieved,
	    (unsigned long long)answer->lost);
	return pxt_finish(&out);
}

static int conclude(const struct link *link)
{
	const struct pxt_order_answer *answer = &link->answer.answer;
	unsigned types = 0;

	while (link->types && link->types[types])
		types++;
	if (answer->result == PXT_ORDER_UNKNOWN)
		pxt_complain("link: the target does not know this order");
	else if (answer->result == PXT_ORDER_NO_TYPE && answer->at < types)
		pxt_complain("link: no event type of the target is called like \"%s\"; nothing was "
		             "changed",
		    link->types[answer->at]);
	else if (answer->result != PXT_ORDER_DONE)
		pxt_complain("link: the target refused it");
	else
		return answer->what == PXT_ORDER_STAT ? show_counts(answer) : PXT_EXIT_OK;
	return PXT_EXIT_LOG;
}

/* ---- The command line ---- */

static int wrong(const char *text)
{
	pxt_complain("link: %s", text);
	return pxt_usage("link");
}

static int number_of(const char *const *words, const char *word)
{
	for (int i = 1; word && words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return 0;
}

static int put_types(struct link *link)
{
	for (char **type = link->types; *type; type++) {
		size_t bytes = strlen(*type) + 1;

		if (bytes == 1)
			return wrong("a type's name is empty");
		if (bytes > PXT_ORDER_BYTES - PXT_ORDER_CRC - link->bytes)
			return wrong("these are too many types at once");
		memcpy(link->order + link->bytes, *type, bytes);
		link->bytes += (uint32_t)bytes;
	}
	return PXT_EXIT_OK;
}

static int put_filter(struct link *link, char **words)
{
	static const char *const how[] = { "", "set", "add", "sub", NULL };
	bool none = *words && strcmp(*words, "none") == 0;

	link->order[3] = (unsigned char)(none ? PXT_ORDER_SET : number_of(how, *words));
	if (!link->order[3])
		return wrong("filter: add, sub, set or none?");
	link->types = words + 1;
	if (none && *link->types)
		return wrong("none takes no types");
	if (!none && !*link->types)
		return wrong("which types? (none empties the filter)");
	return put_types(link);
}

/* @words: after the line. */
static int make_order(struct link *link, char **words)
{
	static const char *const what[] = { "", "stat", "start", "stop", "flush", "filter", NULL };
	uint32_t number = (uint32_t)now_ms() ^ (uint32_t)getpid();
	int status = PXT_EXIT_OK;
	uint32_t sum;

	link->order[0] = (unsigned char)number;
	link->order[1] = (unsigned char)(number >> 8);
	link->order[2] = (unsigned char)number_of(what, *words);
	link->bytes = PXT_ORDER_TEXT_AT;
	if (!link->order[2])
		return wrong("start, stop, flush, stat or filter?");
	if (link->order[2] == PXT_ORDER_FILTER)
		status = put_filter(link, words + 1);
	else if (words[1])
		return wrong("this order takes no more words");
	sum = pxt_crc32(PXT_ORDER_SEED, link->order, link->bytes);
	for (unsigned i = 0; i < PXT_ORDER_CRC; i++)
		link->order[link->bytes++] = (unsigned char)(sum >> 8 * i);
	return status;
}

static const struct pxt_option options[] = {
	PXT_OPT_FLAG(0, "console", struct link, answer.console),
	PXT_OPT_FLAG(0, "no-answer", struct link, silent),
	PXT_OPT_NUMBER(0, "wait", struct link, wait_s, 1, 86400),
	PXT_OPT_END,
};

static int link_main(int argc, char **argv)
{
	static struct link link;
	int status;

	link.wait_s = 5;
	status = pxt_options_read(&pxt_cmd_link, &link, argc, argv);
	if (status >= 0)
		return status;
	if (!pxt_linkdevice_parse(&link.line, "link", argv[optind]))
		return PXT_EXIT_USAGE;
	if (link.line.kind != PXT_FROM_SERIAL && link.line.kind != PXT_FROM_TCP &&
	    link.line.kind != PXT_FROM_TCP_LISTEN)
		return wrong("orders go over serial: tcp: and tcp-listen: alone");
	status = make_order(&link, argv + optind + 1);
	if (status != PXT_EXIT_OK)
		return status;
	link.line.writes = true;
	pxt_linkanswer_begin(&link.answer, link.order);
	status = converse(&link);
	pxt_linkdevice_close(&link.line);
	return status == PXT_EXIT_OK && !link.silent ? conclude(&link) : status;
}

const struct pxt_command pxt_cmd_link = {
	.name = "link",
	.summary = "gives a board orders over its line",
	.help = help,
	.options = options,
	.wants = "over which line? e.g. serial:/dev/ttyUSB0,115200",
	.run = link_main,
};
