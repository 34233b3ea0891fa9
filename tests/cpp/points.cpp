/* SPDX-License-Identifier: MIT */
/*
 * points.cpp - ptrace.hpp: what was recorded is what is read.  Each test is a fact; run.sh compiles it in many ways.
 * Each program has two objects of it: with OTHER it is the second file, which also has the points whose instructions are
 * compared.
 */
#include <ptrace.hpp>

namespace shared {

enum class level : std::int16_t { low = -3, high = 7 };

inline posix_trace::point seen{ "seen", posix_trace::field<std::uint32_t>("by") };
inline posix_trace::point all{ "all", posix_trace::field<bool>("yes"), posix_trace::field<level>("how"),
	posix_trace::field<posix_trace::hex<std::uint16_t>>("mask"), posix_trace::field<float>("part"),
	posix_trace::field<const void *>("where"), posix_trace::field<posix_trace::text<4>>("tag"),
	posix_trace::field<std::int64_t>("number"), posix_trace::field<std::string_view>("rest") };
inline posix_trace::span work{ "work", posix_trace::field<std::uint8_t>("job") };
inline posix_trace::point bare{ "bare" };

} /* namespace shared */

void see_from_the_other_file();
trace_event_id_t id_in_the_other_file();
/* The same point by macro and by object, for who compares their instructions. */
extern "C" void by_macro(std::uint32_t job, std::int64_t late_ns, double by);
extern "C" void by_point(std::uint32_t job, std::int64_t late_ns, double by);
extern "C" void by_lazy_point(std::uint32_t job, std::int64_t late_ns, double by);

#ifdef OTHER

POSIX_TRACE_DEFINE_NP(c_point, u32, job, i64, late_ns, double, by);
namespace {
posix_trace::point cpp_point{ "cpp_point", posix_trace::field<std::uint32_t>("job"),
	posix_trace::field<std::int64_t>("late_ns"), posix_trace::field<double>("by") };
}

void see_from_the_other_file()
{
	shared::seen(2);
}

trace_event_id_t id_in_the_other_file()
{
	return shared::seen.id();
}

void by_macro(std::uint32_t job, std::int64_t late_ns, double by)
{
	posix_trace_point_np(c_point, job, late_ns, by);
}

void by_point(std::uint32_t job, std::int64_t late_ns, double by)
{
	cpp_point(job, late_ns, by);
}

void by_lazy_point(std::uint32_t job, std::int64_t late_ns, double by)
{
	POSIX_TRACE_POINT_NP(cpp_point, job, late_ns, by);
}

#ifdef TOO_WIDE
void refused()
{
	shared::seen(std::int64_t(1) << 40);
}
#endif

#else

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif

static int failures;
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::printf("%s: line %d: %s\n", __func__, __LINE__, #condition);          \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* Reads a stream or log to its end: "name field=value ..." of each user event. */
template <class Source> static std::vector<std::string> story(Source &source)
{
	std::vector<std::string> lines;
	auto events = source.events();

	for (auto event : events) {
		std::string line(std::string_view(source.name(event.type())));

		event.fields([&line](const posix_trace::field_value &field) {
			line += " " + std::string(field.name()) + "=";
			if (field.is_text())
				line += field.as_text();
			else if (field.is_float())
				line += std::to_string(field.as_double());
			else
				line += std::to_string(field.as_signed());
		});
		if (event.is_named())
			lines.push_back(line);
	}
	EXPECT(!events.failed());
	return lines;
}

static posix_trace::stream running()
{
	auto made = posix_trace::stream::create();

	if (!made || made->start()) {
		std::printf("no stream: %s\n", made.why().text());
		std::exit(1);
	}
	return std::move(*made);
}

static void fields_of_each_kind_come_back()
{
	auto stream = running();
	const std::string rest = "the rest";

	shared::all(true, shared::level::low, 0x12, 0.5f, nullptr, "abcdef", -5, rest);
	EXPECT(std::string_view(shared::all.format()) ==
	       "u8 yes, i16 how, x16 mask, f32 part, x64 where, text[4] tag, i64 number, string rest");
	EXPECT(story(stream) ==
	       std::vector<std::string>{
	           "all yes=1 how=-3 mask=18 part=0.500000 where=0 tag=abcd number=-5 rest=the rest" });
	shared::all(false, shared::level::high, 1, 0.0, &stream, std::string_view("x"), 1, static_cast<const char *>(nullptr));
	shared::bare();
	EXPECT(story(stream).size() == 2);
}

static void arguments_are_not_evaluated_while_nobody_wants_the_event()
{
	std::uint32_t evaluated = 0;

	POSIX_TRACE_POINT_NP(shared::seen, ++evaluated);
	EXPECT(evaluated == 0);
	{
		auto stream = running();

		POSIX_TRACE_POINT_NP(shared::seen, ++evaluated);
		EXPECT(story(stream) == std::vector<std::string>{ "seen by=1" });
	}
	POSIX_TRACE_POINT_NP(shared::seen, ++evaluated);
	EXPECT(evaluated == 1);
}

static void a_point_of_a_header_is_one_in_all_files()
{
	auto stream = running();

	shared::seen(1);
	see_from_the_other_file();
	EXPECT(shared::seen.id() != 0 && shared::seen.id() == id_in_the_other_file());
	EXPECT((story(stream) == std::vector<std::string>{ "seen by=1", "seen by=2" }));
}

static int leaves_early(bool early)
{
	auto scope = shared::work(1);

	if (early)
		return 1;
	shared::bare();
	return 0;
}

static void a_span_ends_with_its_scope()
{
	auto stream = running();

	leaves_early(true);
	leaves_early(false);
	EXPECT((story(stream) == std::vector<std::string>{ "work_begin job=1", "work_end job=1", "work_begin job=1",
	                             "bare", "work_end job=1" }));
}

static void an_owner_that_was_moved_gives_nothing_back()
{
	auto first = running();
	const trace_id_t id = first.id();
	posix_trace_status_info told;

	{
		posix_trace::stream second(std::move(first));

		EXPECT(second.id() == id && posix_trace_get_status(id, &told) == 0);
	}
	EXPECT(posix_trace_get_status(id, &told) == EINVAL);
	auto one = running();
	one = running();
	EXPECT(one.shutdown().number() == 0 && one.id() == 0);
}

static void errors_are_values_with_words()
{
	auto attr = posix_trace::attributes().size(1 << 16).when_full(static_cast<posix_trace::full>(99)).data_size(64);
	auto stream = posix_trace::stream::create(attr);
	posix_trace_logerror_np reason = {};
	auto nothing = posix_trace::log::open("/nowhere/at/all");

	EXPECT(attr.status().number() == EINVAL && !stream && stream.why().number() == EINVAL);
	EXPECT(!nothing && nothing.why().number() == ENOENT);
	EXPECT(!posix_trace::log::open("/dev/null", &reason));
	EXPECT(std::string_view(stream.why().text()) == "Invalid argument");
}

static void a_log_is_written_and_read_in_a_loop(const char *path)
{
	{
		auto stream = posix_trace::stream::create_with_log(
		    path, posix_trace::attributes().name("loop").when_full(posix_trace::log_full::append));

		EXPECT(stream && !stream->start());
		for (std::uint32_t i = 0; i < 1000; i++)
			shared::seen(i);
	}
	auto log = posix_trace::log::open(path);
	EXPECT(log);
	if (!log)
		return;
	EXPECT(story(*log).size() == 1000 && !log->rewind() && story(*log).back() == "seen by=999");
	auto info = log->info();
	EXPECT(info && info->posix_lost_np == 0 && info->posix_threads_np == 1 && log->thread(0));
#if __cplusplus >= 202002L && (!defined(__clang__) || __clang_major__ > 15)
	EXPECT(!log->rewind());
	auto events = log->events();
	auto named = events | std::views::filter([](const posix_trace::event &event) { return event.is_named(); });
	EXPECT(std::ranges::distance(named) == 1000);
#endif
}

int main(int count, char **arguments)
{
	if (count < 2)
		return 2;
	fields_of_each_kind_come_back();
	arguments_are_not_evaluated_while_nobody_wants_the_event();
	a_point_of_a_header_is_one_in_all_files();
	a_span_ends_with_its_scope();
	an_owner_that_was_moved_gives_nothing_back();
	errors_are_values_with_words();
	a_log_is_written_and_read_in_a_loop(arguments[1]);
	return failures ? 1 : 0;
}

#endif
