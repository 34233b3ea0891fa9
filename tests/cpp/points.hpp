/* SPDX-License-Identifier: MIT */
/* points.hpp - points that both files of the test have from one header. */
#ifndef POINTS_HPP
#define POINTS_HPP

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

#endif
