/* SPDX-License-Identifier: MIT */
/* screen_none.c - where there is no ncurses, `pxtrace top` writes tables one after another alone. */
#include "tools/top/screen.h"

#include "tools/output/say.h"

bool pxt_screen_begin(void)
{
	pxt_complain("top: this pxtrace was built without ncurses, so it has no full screen: use "
	             "--batch");
	pxt_explain("Debian has it in libncurses-dev");
	return false;
}

void pxt_screen_end(void)
{
}

void pxt_screen_size(size_t *width, size_t *height)
{
	*width = *height = 0;
}

void pxt_screen_erase(void)
{
}

void pxt_screen_line(size_t line, enum pxt_view_style style, const char *text, size_t bytes)
{
	(void)line;
	(void)style;
	(void)text;
	(void)bytes;
}

void pxt_screen_show(void)
{
}

enum pxt_screen_key pxt_screen_key(int wait_ms)
{
	(void)wait_ms;
	return PXT_KEY_GONE;
}
