/* SPDX-License-Identifier: MIT */
/* screen.c - the whole screen by ncurses; see top.h. */
#define _XOPEN_SOURCE    700
#define NCURSES_WIDECHAR 1
#include "tools/top/top.h"

#include "tools/output/out.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#define ESCAPE_MS 50 /* an arrow's bytes come together, also over a network */

static SCREEN *screen;

void pxt_screen_end(void)
{
	if (!screen)
		return;
	pxt_say_to(NULL);
	(void)endwin();
	delscreen(screen);
	screen = NULL;
}

/* Whether the terminal is one whose cursor can be moved; initscr() would end the program. */
static bool can_draw(void)
{
	int known = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		pxt_complain("top: standard input and output are no terminal: use --batch");
		return false;
	}
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK || known != 1) {
		const char *term = getenv("TERM");

		pxt_complain("top: nothing is known of a terminal \"%s\" (TERM): use --batch",
		    term ? term : "");
		return false;
	}
	/* Both say so by an invalid pointer. */
	char *move = tigetstr("cup");
	bool can = move && move != (char *)-1;
	(void)del_curterm(cur_term);
	if (!can)
		pxt_complain(
		    "top: this terminal (TERM=%s) cannot be drawn on: use --batch", getenv("TERM"));
	return can;
}

bool pxt_screen_begin(void)
{
	/* Which bytes are one character; nothing else of the user's language changes. */
	(void)setlocale(LC_CTYPE, "");
	if (!can_draw())
		return false;
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		pxt_complain("top: the terminal cannot be drawn on: use --batch");
		return false;
	}
	(void)atexit(pxt_screen_end);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	(void)curs_set(0);
	return true;
}

void pxt_screen_size(size_t *width, size_t *height)
{
	int y;
	int x;

	getmaxyx(stdscr, y, x);
	*width = x > 0 ? (size_t)x : 0;
	*height = y > 0 ? (size_t)y : 0;
}

void pxt_screen_erase(void)
{
	(void)erase();
}

void pxt_screen_line(size_t line, enum pxt_view_style style, const char *text, size_t bytes)
{
	static const attr_t attributes[] = {
		[PXT_VIEW_PLAIN] = A_NORMAL, [PXT_VIEW_HEAD] = A_BOLD, [PXT_VIEW_CHOSEN] = A_REVERSE
	};
	size_t width;
	size_t height;

	pxt_screen_size(&width, &height);
	if (line >= height)
		return;
	(void)attrset((int)attributes[style]);
	(void)mvaddnstr((int)line, 0, text, (int)bytes);
	(void)attrset(A_NORMAL);
}

/*
 * While it draws, ncurses ignores the key that stops a program: what came meanwhile would be lost.  A
 * signal that is blocked waits.
 */
void pxt_screen_show(void)
{
	sigset_t stop;
	sigset_t before;

	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTSTP);
	(void)pthread_sigmask(SIG_BLOCK, &stop, &before);
	(void)refresh();
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A terminal that was hung up is readable for ever. */
static bool is_gone(void)
{
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&wait, 1, 0) > 0 && (wait.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

enum pxt_screen_key pxt_screen_key(int wait_ms)
{
	timeout(wait_ms);
	switch (getch()) {
	case ERR:
		return is_gone() ? PXT_KEY_GONE : PXT_KEY_NONE;
	case 'q':
	case 'Q':
		return PXT_KEY_QUIT;
	case ' ':
		return PXT_KEY_FREEZE;
	case 's':
	case KEY_RIGHT:
		return PXT_KEY_NEXT;
	case KEY_LEFT:
		return PXT_KEY_PREVIOUS;
	case KEY_UP:
		return PXT_KEY_UP;
	case KEY_DOWN:
		return PXT_KEY_DOWN;
	case 'S':
		return PXT_KEY_SAVE;
	case '?':
	case 'h':
		return PXT_KEY_HELP;
	case KEY_RESIZE:
		return PXT_KEY_RESIZED;
	default:
		return PXT_KEY_OTHER;
	}
}
