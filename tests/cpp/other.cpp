/* SPDX-License-Identifier: MIT */
/* other.cpp - the second file of a program, and points whose instructions are compared (run.sh). */
#include "points.hpp"

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
