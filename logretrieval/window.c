/* SPDX-License-Identifier: MIT */
/* window.c - a piece of the file in memory, read by offset. */
#include "logretrieval/log.h"

int pxt_log_view(struct pxt_log *log, uint64_t offset, uint32_t bytes, const unsigned char **at)
{
	size_t done;
	int error;

	*at = NULL;
	if (offset < log->window_from || offset - log->window_at > log->window_filled ||
	    log->window_filled - (offset - log->window_at) < bytes) {
		log->window_filled = 0;
		error =
		    pxt_port_file_read(&log->file, offset, log->window, log->window_bytes, &done);
		if (error) {
			log->unreadable = true;
			return error;
		}
		log->window_at = offset;
		log->window_from = offset;
		log->window_filled = (uint32_t)done;
		if (done < bytes)
			return 0;
	}
	*at = log->window + (offset - log->window_at);
	return 0;
}

const unsigned char *pxt_log_see(struct pxt_log *log, uint64_t offset, uint32_t bytes)
{
	const unsigned char *at;

	(void)pxt_log_view(log, offset, bytes, &at);
	return at;
}

int pxt_log_need(struct pxt_log *log, uint64_t offset, uint32_t bytes, const char *missing,
    const unsigned char **at)
{
	if (pxt_log_view(log, offset, bytes, at))
		return pxt_log_fail(log, offset, "the file cannot be read");
	return *at ? 0 : pxt_log_fail(log, offset, missing);
}

void pxt_log_view_again(struct pxt_log *log)
{
	log->window_filled = 0;
}

void pxt_log_view_spoilt(struct pxt_log *log, const unsigned char *end)
{
	log->window_from = log->window_at + (uint64_t)(end - log->window);
}
