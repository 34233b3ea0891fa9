/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "finalname.h"

#include <stdlib.h>
#include <string.h>

char *pxt_final_name(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}
