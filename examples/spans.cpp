/* SPDX-License-Identifier: MIT */
/*
 * spans.cpp - C++: points in namespaces, spans that end with their scope, a log that is read back in a loop.
 * Without exceptions; each error is a value.
 */
#include <ptrace.hpp>

#include <cinttypes>
#include <cstdio>
#include <string>

namespace motor {

enum class phase : std::uint8_t { idle, running };

inline posix_trace::span job{ "job", posix_trace::field<std::uint32_t>("number") };
inline posix_trace::point moved{ "moved", posix_trace::field<phase>("to"),
	posix_trace::field<double>("degrees"), posix_trace::field<std::string_view>("who") };

static void turn(std::uint32_t number)
{
	const std::string who = "axis " + std::to_string(number);
	auto scope = job(number);

	moved(phase::running, 20.5 * number, who);
	if (number == 2)
		return; /* the span ends here */
	moved(phase::idle, 0.0, who);
}

} /* namespace motor */

static int fail(const char *what, posix_trace::error failed)
{
	(void)std::fprintf(stderr, "spans: %s: %s\n", what, failed.text());
	return 1;
}

static posix_trace::error record(const char *path)
{
	auto stream = posix_trace::stream::create_with_log(
	    path, posix_trace::attributes().name("spans").when_full(posix_trace::log_full::append));

	if (!stream)
		return stream.why();
	if (auto failed = stream->start())
		return failed;
	for (std::uint32_t number = 1; number <= 2; number++)
		motor::turn(number);
	return stream->shutdown();
}

static void print(posix_trace::log &log, const posix_trace::event &event)
{
	std::printf("%s", log.name(event.type()).c_str());
	event.fields([](const posix_trace::field_value &field) {
		std::printf(" %.*s=", static_cast<int>(field.name().size()), field.name().data());
		if (field.is_text())
			std::printf("%.*s", static_cast<int>(field.as_text().size()), field.as_text().data());
		else if (field.is_float())
			std::printf("%.1f", field.as_double());
		else
			std::printf("%" PRIu64, field.as_unsigned());
	});
	std::printf("\n");
}

int main(int count, char **arguments)
{
	const char *path = count > 1 ? arguments[1] : "spans.ptl";

	if (auto failed = record(path))
		return fail("record", failed);
	auto log = posix_trace::log::open(path);
	if (!log)
		return fail("open", log.why());
	auto events = log->events();
	for (auto event : events)
		if (event.is_named())
			print(*log, event);
	if (auto failed = events.failed())
		return fail("read", failed);
	return 0;
}
