/* SPDX-License-Identifier: MIT */
/*
 * crc32_fast.c - CRC-32 sixteen bytes at a time (slicing), with 16 KiB of constants.
 *
 * Row k holds, for each byte, its effect on the checksum k bytes later.  The effect is linear (the
 * exclusive or of the effects of its bits), so that eight constants a row are the whole table.
 *
 * x86-64 processors that multiply without carry do most of it 64 or 128 bytes at a time: 16 bytes
 * and what comes 64 bytes after them have the same effect as the sum of the latter and the former
 * times x^512 modulo the polynomial, which has 32 bits instead of 512.
 */
#include "format/crc32.h"

#include <string.h>
#if defined(__x86_64__)
#include <stdatomic.h>
#endif

#define BIT(i, bit, value) (((i) >> (bit)&1) ? (value) : 0u)
#define ONE(i, a, b, c, d, e, f, g, h)                                                             \
	(BIT(i, 0, a) ^ BIT(i, 1, b) ^ BIT(i, 2, c) ^ BIT(i, 3, d) ^ BIT(i, 4, e) ^ BIT(i, 5, f) ^ \
	    BIT(i, 6, g) ^ BIT(i, 7, h))
#define FOUR(i, ...)                                                                               \
	ONE(i, __VA_ARGS__), ONE((i) + 1, __VA_ARGS__), ONE((i) + 2, __VA_ARGS__),                 \
	    ONE((i) + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)                                                                            \
	FOUR(i, __VA_ARGS__), FOUR((i) + 4, __VA_ARGS__), FOUR((i) + 8, __VA_ARGS__),              \
	    FOUR((i) + 12, __VA_ARGS__)
#define SIXTYFOUR(i, ...)                                                                          \
	SIXTEEN(i, __VA_ARGS__), SIXTEEN((i) + 16, __VA_ARGS__), SIXTEEN((i) + 32, __VA_ARGS__),   \
	    SIXTEEN((i) + 48, __VA_ARGS__)
#define ROW(...)                                                                                   \
	{                                                                                          \
		SIXTYFOUR(0, __VA_ARGS__), SIXTYFOUR(64, __VA_ARGS__),                             \
		    SIXTYFOUR(128, __VA_ARGS__), SIXTYFOUR(192, __VA_ARGS__)                       \
	}

/* clang-format off */
static const uint32_t effect[16][256] = {
	ROW(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u,
	    0x1db71064u, 0x3b6e20c8u, 0x76dc4190u, 0xedb88320u),
	ROW(0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u,
	    0x4ac21251u, 0x958424a2u, 0xf0794f05u, 0x3b83984bu),
	ROW(0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u,
	    0x1c26a370u, 0x384d46e0u, 0x709a8dc0u, 0xe1351b80u),
	ROW(0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu,
	    0x5019579fu, 0xa032af3eu, 0x9b14583du, 0xed59b63bu),
	ROW(0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u,
	    0x60e09782u, 0xc1c12f04u, 0x58f35849u, 0xb1e6b092u),
	ROW(0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du,
	    0x03d6029bu, 0x07ac0536u, 0x0f580a6cu, 0x1eb014d8u),
	ROW(0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u,
	    0x67de9cceu, 0xcfbd399cu, 0x440b7579u, 0x8816eaf2u),
	ROW(0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u,
	    0x7cbb312bu, 0xf9766256u, 0x299dc2edu, 0x533b85dau),
	ROW(0x177b1443u, 0x2ef62886u, 0x5dec510cu, 0xbbd8a218u,
	    0xacc04271u, 0x82f182a3u, 0xde920307u, 0x6655004fu),
	ROW(0xefc26b3eu, 0x04f5d03du, 0x09eba07au, 0x13d740f4u,
	    0x27ae81e8u, 0x4f5d03d0u, 0x9eba07a0u, 0xe6050901u),
	ROW(0xc18edfc0u, 0x586cb9c1u, 0xb0d97382u, 0xbac3e145u,
	    0xaef6c4cbu, 0x869c8fd7u, 0xd64819efu, 0x77e1359fu),
	ROW(0x9ba54c6fu, 0xec3b9e9fu, 0x03063b7fu, 0x060c76feu,
	    0x0c18edfcu, 0x1831dbf8u, 0x3063b7f0u, 0x60c76fe0u),
	ROW(0xdd96d985u, 0x605cb54bu, 0xc0b96a96u, 0x5a03d36du,
	    0xb407a6dau, 0xb37e4bf5u, 0xbd8d91abu, 0xa06a2517u),
	ROW(0x9d0fe176u, 0xe16ec4adu, 0x19ac8f1bu, 0x33591e36u,
	    0x66b23c6cu, 0xcd6478d8u, 0x41b9f7f1u, 0x8373efe2u),
	ROW(0xb9fbdbe8u, 0xa886b191u, 0x8a7c6563u, 0xcf89cc87u,
	    0x44629f4fu, 0x88c53e9eu, 0xcafb7b7du, 0x4e87f0bbu),
	ROW(0xae689191u, 0x87a02563u, 0xd4314c87u, 0x73139f4fu,
	    0xe6273e9eu, 0x173f7b7du, 0x2e7ef6fau, 0x5cfdedf4u),
};
/* clang-format on */

static uint32_t little(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* The effects of the four bytes of @word, the first of which is @row bytes before the end. */
static uint32_t four(uint32_t word, unsigned row)
{
	return effect[row][word & 0xffu] ^ effect[row - 1][word >> 8 & 0xffu] ^
	       effect[row - 2][word >> 16 & 0xffu] ^ effect[row - 3][word >> 24];
}

/* @crc without the inversions. */
static uint32_t by_table(uint32_t crc, const unsigned char *at, size_t bytes)
{
	for (; bytes >= 16; bytes -= 16, at += 16)
		crc = four(crc ^ little(at), 15) ^ four(little(at + 4), 11) ^
		      four(little(at + 8), 7) ^ four(little(at + 12), 3);
	while (bytes--)
		crc = crc >> 8 ^ effect[0][(crc ^ *at++) & 0xffu];
	return crc;
}

#if defined(__x86_64__)

#define FOLD_MIN 256u

/* Of what cpuid says in ecx: by 1, and by 7. */
#define HAS_PCLMULQDQ  UINT32_C(0x00000002)
#define HAS_AVX        UINT32_C(0x18000000) /* and xgetbv, by which the system says ... */
#define HAS_VPCLMULQDQ UINT32_C(0x00000400)
#define KEEPS_AVX      6u /* ... whether it keeps their registers */

enum how {
	UNKNOWN,
	BY_TABLE,
	BY_16,
	BY_32
};

static uint32_t cpuid(uint32_t leaf)
{
	uint32_t b;
	uint32_t c = 0;
	uint32_t d;

	__asm__("cpuid" : "+a"(leaf), "=b"(b), "+c"(c), "=d"(d));
	return c;
}

static enum how look_how(void)
{
	const uint32_t has = cpuid(1);
	uint32_t kept;
	uint32_t high;

	if (!(has & HAS_PCLMULQDQ))
		return BY_TABLE;
	if ((has & HAS_AVX) != HAS_AVX || !(cpuid(7) & HAS_VPCLMULQDQ))
		return BY_16;
	__asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
	return (kept & KEEPS_AVX) == KEEPS_AVX ? BY_32 : BY_16;
}

/* Asked once.  A process that asks beside gets the same answer. */
static enum how how_to(void)
{
	static _Atomic unsigned char known;
	unsigned char answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (answer == UNKNOWN) {
		answer = (unsigned char)look_how();
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer;
}

typedef long long sixteen __attribute__((vector_size(16)));

#define FOLDING __attribute__((target("pclmul"))) static inline

FOLDING sixteen load(const unsigned char *at)
{
	sixteen value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* @sum moved on by the distance that @factors stand for, and what comes there. */
FOLDING sixteen fold(sixteen sum, sixteen factors, sixteen next)
{
	return __builtin_ia32_pclmulqdq128(sum, factors, 0x00) ^
	       __builtin_ia32_pclmulqdq128(sum, factors, 0x11) ^ next;
}

/* Multiples of 128 bytes, at least 256: 16 bytes that have the same effect go to @sum. */
__attribute__((target("pclmul"))) static void fold_16(
    uint32_t crc, const unsigned char *at, size_t bytes, unsigned char sum[16])
{
	/* x^(512 + 32), x^(512 - 32); x^(128 + 32), x^(128 - 32): bits reversed, one place left. */
	const sixteen by_64 = { 0x154442bd4, 0x1c6e41596 };
	const sixteen by_16 = { 0x1751997d0, 0x0ccaa009e };
	sixteen a = load(at) ^ (sixteen) { (long long)crc, 0 };
	sixteen b = load(at + 16);
	sixteen c = load(at + 32);
	sixteen d = load(at + 48);

	for (at += 64, bytes -= 64; bytes; at += 64, bytes -= 64) {
		a = fold(a, by_64, load(at));
		b = fold(b, by_64, load(at + 16));
		c = fold(c, by_64, load(at + 32));
		d = fold(d, by_64, load(at + 48));
	}
	b = fold(a, by_16, b);
	c = fold(b, by_16, c);
	d = fold(c, by_16, d);
	memcpy(sum, &d, sizeof(d));
}

typedef long long thirtytwo __attribute__((vector_size(32)));

#if defined(__clang__)
#define MULTIPLY(a, b, which) __builtin_ia32_pclmulqdq256(a, b, which)
#else
#define MULTIPLY(a, b, which) __builtin_ia32_vpclmulqdq_v4di(a, b, which)
#endif

#define WIDE __attribute__((target("avx,pclmul,vpclmulqdq"))) static

WIDE inline thirtytwo wide_load(const unsigned char *at)
{
	thirtytwo value;

	memcpy(&value, at, sizeof(value));
	return value;
}

WIDE inline thirtytwo wide_fold(thirtytwo sum, thirtytwo factors, thirtytwo next)
{
	return MULTIPLY(sum, factors, 0x00) ^ MULTIPLY(sum, factors, 0x11) ^ next;
}

/* The same, two times 16 bytes in one step. */
WIDE void fold_32(uint32_t crc, const unsigned char *at, size_t bytes, unsigned char sum[16])
{
	/* As above: x^(1024 + 32), x^(1024 - 32); x^(256 + 32), x^(256 - 32); as above. */
	const thirtytwo by_128 = { 0x1e88ef372, 0x14a7fe880, 0x1e88ef372, 0x14a7fe880 };
	const thirtytwo by_32 = { 0x0f1da05aa, 0x15a546366, 0x0f1da05aa, 0x15a546366 };
	const sixteen by_16 = { 0x1751997d0, 0x0ccaa009e };
	thirtytwo a = wide_load(at) ^ (thirtytwo) { (long long)crc, 0, 0, 0 };
	thirtytwo b = wide_load(at + 32);
	thirtytwo c = wide_load(at + 64);
	thirtytwo d = wide_load(at + 96);
	sixteen halves[2];

	for (at += 128, bytes -= 128; bytes; at += 128, bytes -= 128) {
		a = wide_fold(a, by_128, wide_load(at));
		b = wide_fold(b, by_128, wide_load(at + 32));
		c = wide_fold(c, by_128, wide_load(at + 64));
		d = wide_fold(d, by_128, wide_load(at + 96));
	}
	b = wide_fold(a, by_32, b);
	c = wide_fold(b, by_32, c);
	d = wide_fold(c, by_32, d);
	memcpy(halves, &d, sizeof(halves));
	halves[1] = fold(halves[0], by_16, halves[1]);
	memcpy(sum, &halves[1], sizeof(halves[1]));
}

uint32_t pxt_crc32(uint32_t crc, const void *data, size_t bytes)
{
	const unsigned char *at = data;
	const enum how how = bytes >= FOLD_MIN ? how_to() : BY_TABLE;

	crc = ~crc;
	if (how != BY_TABLE) {
		size_t whole = bytes & ~(size_t)127;
		unsigned char sum[16];

		if (how == BY_32)
			fold_32(crc, at, whole, sum);
		else
			fold_16(crc, at, whole, sum);
		crc = by_table(0, sum, sizeof(sum));
		at += whole;
		bytes -= whole;
	}
	return ~by_table(crc, at, bytes);
}

#else

uint32_t pxt_crc32(uint32_t crc, const void *data, size_t bytes)
{
	return ~by_table(~crc, data, bytes);
}

#endif
