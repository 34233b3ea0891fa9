/* SPDX-License-Identifier: MIT */
/* empty.c - the same program without tracing. */
int main(void)
{
	return 0;
}
