/* SPDX-License-Identifier: MIT */
/*
 * ptrace.hpp - libptrace for C++17: typed points, spans, owners of streams and logs, ranges of
 * events.
 *
 * No exceptions, no RTTI, no allocation: errors are values, and the compiler warns of one that
 * is dropped.  Everything is in the namespace posix_trace, and inline: there is no library
 * beside those of trace.h.  docs/cpp.md is the manual.
 *
 * What a function here does not say is said by the function of trace.h or trace_np.h that it calls.
 */
#ifndef _PXT_PTRACE_HPP
#define _PXT_PTRACE_HPP 1

#if defined(__GNUC__)
/* C's own headers are C. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#include "trace.h"
#include "trace_np.h"

namespace posix_trace {
/* Types of events that every stream has. */
inline constexpr trace_event_id_t error_event = POSIX_TRACE_ERROR;
inline constexpr trace_event_id_t start_event = POSIX_TRACE_START;
inline constexpr trace_event_id_t stop_event = POSIX_TRACE_STOP;
inline constexpr trace_event_id_t overflow_event = POSIX_TRACE_OVERFLOW;
inline constexpr trace_event_id_t resume_event = POSIX_TRACE_RESUME;
inline constexpr trace_event_id_t filter_event = POSIX_TRACE_FILTER;
inline constexpr trace_event_id_t flush_start_event = POSIX_TRACE_FLUSH_START;
inline constexpr trace_event_id_t flush_stop_event = POSIX_TRACE_FLUSH_STOP;
inline constexpr trace_event_id_t unnamed_event = POSIX_TRACE_UNNAMED_USEREVENT;
} /* namespace posix_trace */
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace posix_trace {

/* ---- Errors ---- */

/* An error number, or none.  `if (auto failed = stream.start())` */
class [[nodiscard]] error {
public:
	constexpr error() = default;
	constexpr explicit error(int number) : number_(number) {}
	constexpr explicit operator bool() const { return number_ != 0; }
	constexpr int number() const { return number_; }
	/* strerror()'s words. */
	const char *text() const { return std::strerror(number_); }

private:
	int number_ = 0;
};

/* A value, or why there is none.  Look first: *result without a value is undefined. */
template <class T> class [[nodiscard]] result {
public:
	result(T &&value) : value_(std::move(value)) {}
	result(error why) : why_(why) {}
	explicit operator bool() const { return value_.has_value(); }
	T &operator*() { return *value_; }
	const T &operator*() const { return *value_; }
	T *operator->() { return &*value_; }
	const T *operator->() const { return &*value_; }
	error why() const { return why_; }

private:
	std::optional<T> value_;
	error why_;
};

/* ---- Typed points (unit User Events) ---- */

/* A number that is printed as hexadecimal; a text of N bytes, cut or filled up with NULs. */
template <class T> struct hex {};
template <std::size_t N> struct text {};

namespace detail {

template <std::size_t N> struct words {
	char data[N + 1] = {};
};

template <class T, class = void> struct kind; /* not defined: no field can have this type */

/* "u32", "i8", "x64" */
template <std::size_t Bytes> constexpr auto number_word(char letter)
{
	constexpr const char *bits =
	    Bytes == 1 ? "8" : Bytes == 2 ? "16" : Bytes == 4 ? "32" : "64";
	words<Bytes == 1 ? 2 : 3> word;

	word.data[0] = letter;
	for (std::size_t i = 0; bits[i]; i++)
		word.data[i + 1] = bits[i];
	return word;
}

template <class T> struct number_kind {
	static constexpr std::size_t room = sizeof(T);
	static constexpr bool takes_rest = false;
	template <class A> static std::size_t pack(unsigned char *to, const A &argument)
	{
		static_assert(
		    std::is_enum_v<A> || !std::is_enum_v<T>, "the field is of an enumeration");
		static_assert(std::is_same_v<A, T> || !std::is_enum_v<A>,
		    "the argument is of another enumeration");
		static_assert(!std::is_floating_point_v<A> || std::is_floating_point_v<T>,
		    "the field is an integer");
		static_assert(!std::is_integral_v<A> || !std::is_integral_v<T> ||
		                  sizeof(A) <= sizeof(T) || std::is_same_v<A, int>,
		    "the argument has more bits than the field: cast it");
		const T value = static_cast<T>(argument);

		std::memcpy(to, &value, sizeof(value));
		return sizeof(value);
	}
};
template <class T> struct kind<T, std::enable_if_t<std::is_integral_v<T>>> : number_kind<T> {
	static constexpr auto word = number_word<sizeof(T)>(std::is_signed_v<T> ? 'i' : 'u');
};
template <class T> struct kind<T, std::enable_if_t<std::is_floating_point_v<T> && (sizeof(T) <= 8)>>
    : number_kind<T> {
	static constexpr auto word = number_word<sizeof(T)>('f');
};
template <class T> struct kind<T, std::enable_if_t<std::is_enum_v<T>>> : number_kind<T> {
	static constexpr auto word = kind<std::underlying_type_t<T>>::word;
};
template <class T> struct kind<hex<T>> : number_kind<T> {
	static_assert(std::is_integral_v<T>);
	static constexpr auto word = number_word<sizeof(T)>('x');
};
template <class T> struct kind<T *, std::enable_if_t<!std::is_same_v<std::remove_cv_t<T>, char>>>
    : number_kind<const volatile void *> {
	static constexpr auto word = number_word<sizeof(T *)>('x');
};

inline std::string_view as_view(std::string_view value)
{
	return value;
}
/* NULL is an empty text. */
inline std::string_view as_view(const char *value)
{
	return value ? std::string_view(value) : std::string_view();
}

template <std::size_t N> struct kind<text<N>> {
	static_assert(N >= 1 && N <= 4095);
	static constexpr std::size_t room = N;
	static constexpr bool takes_rest = false;
	static constexpr std::size_t digits = N > 999 ? 4 : N > 99 ? 3 : N > 9 ? 2 : 1;
	static constexpr words<digits + 6> make()
	{
		words<digits + 6> made{ "text[" };
		std::size_t rest = N;

		for (std::size_t i = digits; i > 0; i--, rest /= 10)
			made.data[4 + i] = static_cast<char>('0' + rest % 10);
		made.data[5 + digits] = ']';
		return made;
	}
	static constexpr auto word = make();
	template <class A> static std::size_t pack(unsigned char *to, const A &argument)
	{
		const std::string_view value = as_view(argument);
		const std::size_t used = value.size() < N ? value.size() : N;

		if (used > 0)
			std::memcpy(to, value.data(), used);
		std::memset(to + used, 0, N - used);
		return N;
	}
};
/* The rest of the data: up to POSIX_TRACE_TEXT_MAX_NP bytes, cut; last field only. */
template <> struct kind<std::string_view> {
	static constexpr words<6> word = { "string" };
	static constexpr std::size_t room = POSIX_TRACE_TEXT_MAX_NP;
	static constexpr bool takes_rest = true;
	template <class A> static std::size_t pack(unsigned char *to, const A &argument)
	{
		const std::string_view value = as_view(argument);
		const std::size_t used = value.size() < room ? value.size() : room;

		if (used > 0)
			std::memcpy(to, value.data(), used);
		return used;
	}
};

template <class T> constexpr std::size_t word_length = sizeof(kind<T>::word.data) - 1;

template <class... T> constexpr bool string_is_last()
{
	bool after = false;
	bool good = true;

	((good = good && !after, after = after || kind<T>::takes_rest), ...);
	return good;
}

} /* namespace detail */

/* A field of a point: its type as template argument, its name (a C identifier). */
template <class T, std::size_t N> struct field_of {
	const char (&name)[N];
};
template <class T, std::size_t N> constexpr field_of<T, N> field(const char (&name)[N])
{
	return { name };
}

#if _PXT_UNIT_USEREVENTS
namespace detail {

/*
 * Name and description as the library wants them, made by the compiler.  @Format: bytes of the
 * description with its zero.
 */
template <std::size_t Name, std::size_t Format, class... T> class point {
	static_assert(Name <= TRACE_EVENT_NAME_MAX + 1, "the name is too long");
	static_assert(
	    Format <= POSIX_TRACE_FORMAT_MAX_NP + 1, "the description of the fields is too long");
	static_assert(sizeof...(T) <= POSIX_TRACE_FIELDS_MAX_NP, "too many fields");
	static_assert(string_is_last<T...>(), "a string can only be the last field");

public:
	template <class... F>
	constexpr point(std::string_view begin, std::string_view end, const F &...fields)
	{
		std::size_t used = append(name_, 0, begin);

		append(name_, used, end);
		used = 0;
		((used = append_field<T>(used, { fields.name, sizeof(fields.name) - 1 })), ...);
	}

	/* Whether a stream that runs wants it: two loads and a test. */
	[[gnu::always_inline]] bool wanted() const { return posix_trace_wanted_np(number()); }

	/* Records.  Arguments are converted once, if a stream wants the type. */
	template <class... A> [[gnu::always_inline]] void operator()(const A &...arguments)
	{
		const trace_event_id_t id = number();

		if (__builtin_expect(posix_trace_wanted_np(id), 0))
			record(id, arguments...);
	}

	/* What a wanted point does: its identifier as it is (0: not opened), and its arguments. */
	template <class... A>
	[[gnu::always_inline]] void record(trace_event_id_t id, const A &...arguments)
	{
		static_assert(sizeof...(A) == sizeof...(T), "as many arguments as fields");
#if !defined(POSIX_TRACE_OFF_NP)
		unsigned char data[1 + (std::size_t(0) + ... + kind<T>::room)];
		std::size_t used = 0;

#if _PXT_UNIT_EXTENSIONS
		if (__builtin_expect(!id, 0))
			id = _pxt_point_open(&id_, name_, format_);
#endif
		data[0] = 0; /* or no data would look uninitialised */
		((used += kind<T>::pack(data + used, arguments)), ...);
		posix_trace_event(id, data, used);
#else
		(void)id;
		((void)arguments, ...);
#endif
	}
	[[gnu::always_inline]] trace_event_id_t number() const
	{
		return __atomic_load_n(&id_, __ATOMIC_RELAXED);
	}

	/* Ahead of the first use, as real-time threads want it. */
	error open()
	{
#if defined(POSIX_TRACE_OFF_NP)
		return error();
#else
		return error(_pxt_open_point(&id_, name_, format_));
#endif
	}
	/* For sets of types; opens it first.  0: that failed. */
	trace_event_id_t id()
	{
#if defined(POSIX_TRACE_OFF_NP)
		return 0;
#else
		return _pxt_opened(&id_, name_, format_);
#endif
	}
	constexpr const char *name() const { return name_; }
	constexpr const char *format() const { return format_; }

private:
	static constexpr std::size_t append(char *to, std::size_t used, std::string_view what)
	{
		for (char letter : what)
			to[used++] = letter;
		return used;
	}
	template <class Own>
	constexpr std::size_t append_field(std::size_t used, std::string_view name)
	{
		if (used > 0)
			used = append(format_, used, { ", ", 2 });
		used = append(format_, used, { kind<Own>::word.data, word_length<Own> });
		used = append(format_, used, { " ", 1 });
		return append(format_, used, name);
	}

	trace_event_id_t id_ = 0; /* 0 until it is opened */
	char name_[Name] = {};
	char format_[Format] = {};
};

/* A field has its word, a blank, its name, and what separates it from the next: N counts a zero. */
template <class... F> struct description;
template <class... T, std::size_t... N> struct description<field_of<T, N>...> {
	static constexpr std::size_t bytes = 1 + (std::size_t(0) + ... + (word_length<T> + N + 2));
};

} /* namespace detail */

/*
 * A typed trace point, in any namespace, in a file or (as `inline`) in a header:
 *
 *	namespace motor {
 *	inline posix_trace::point too_hot{ "too_hot", posix_trace::field<std::uint32_t>("motor"),
 *		posix_trace::field<double>("by") };
 *	}
 *	...
 *	motor::too_hot(3, celsius - limit);
 *
 * Types of fields: integers, bool, float, double, enumerations (as their underlying type),
 * pointers (hexadecimal), hex<T>, text<N>, and std::string_view as the last one, which takes every
 * kind of string.  It is initialised by the compiler, and has the same instructions as
 * posix_trace_point_np().  The call evaluates its arguments always, and converts them when a
 * stream wants the type.  POSIX_TRACE_POINT_NP(motor::too_hot, 3, measure()) evaluates them only
 * then; it is for points with fields.
 */
template <std::size_t Name, class... F> class point;
template <std::size_t Name, class... T, std::size_t... N>
class point<Name, field_of<T, N>...>
    : public detail::point<Name, detail::description<field_of<T, N>...>::bytes, T...> {
public:
	constexpr point(const char (&name)[Name], field_of<T, N>... fields)
	    : detail::point<Name, detail::description<field_of<T, N>...>::bytes, T...>(
	          { name, Name - 1 }, {}, fields...)
	{
	}
};
template <std::size_t Name, class... F> point(const char (&)[Name], F...) -> point<Name, F...>;

#define POSIX_TRACE_POINT_NP(point, ...)                                                           \
	do {                                                                                       \
		const trace_event_id_t _pxt_id = (point).number();                                 \
		if (__builtin_expect(posix_trace_wanted_np(_pxt_id), 0))                           \
			(point).record(_pxt_id, __VA_ARGS__);                                      \
	} while (0)

/*
 * A span, in the words that `pxtrace why` knows: NAME_begin, and NAME_end when the scope is left.
 *
 *	inline posix_trace::span work{ "work", posix_trace::field<std::uint32_t>("job") };
 *	...
 *	auto scope = work(job);
 *
 * Both events have the same fields.  A text that is handed to it lives as long as the scope.
 */
template <std::size_t Name, class... F> class span;
template <std::size_t Name, class... T, std::size_t... N> class span<Name, field_of<T, N>...> {
	static constexpr std::size_t bytes = detail::description<field_of<T, N>...>::bytes;

public:
	template <class... A> class [[nodiscard]] scope {
	public:
		[[gnu::always_inline]] scope(span &of, const A &...arguments)
		    : of_(of), arguments_(arguments...)
		{
			of_.begin(arguments...);
		}
		scope(const scope &) = delete;
		scope &operator=(const scope &) = delete;
		[[gnu::always_inline]] ~scope()
		{
			std::apply(
			    [this](const A &...arguments) { of_.end(arguments...); }, arguments_);
		}

	private:
		span &of_;
		std::tuple<A...> arguments_;
	};

	constexpr span(const char (&name)[Name], field_of<T, N>... fields)
	    : begin({ name, Name - 1 }, { "_begin", 6 }, fields...),
	      end({ name, Name - 1 }, { "_end", 4 }, fields...)
	{
	}
	template <class... A>
	[[gnu::always_inline]] scope<std::decay_t<const A>...> operator()(const A &...arguments)
	{
		return { *this, arguments... };
	}
	error open()
	{
		error first = begin.open();
		error second = end.open();

		return first ? first : second;
	}

	detail::point<Name + 6, bytes, T...> begin;
	detail::point<Name + 4, bytes, T...> end;
};
template <std::size_t Name, class... F> span(const char (&)[Name], F...) -> span<Name, F...>;
#endif

/* ---- Attributes ---- */

enum class full {
	loop = POSIX_TRACE_LOOP,
	until_full = POSIX_TRACE_UNTIL_FULL,
	flush = POSIX_TRACE_FLUSH
};
enum class log_full {
	loop = POSIX_TRACE_LOOP,
	until_full = POSIX_TRACE_UNTIL_FULL,
	append = POSIX_TRACE_APPEND
};

#if _PXT_UNIT_CORE && (_PXT_UNIT_ONLINE || _PXT_UNIT_TOLOG)
/* Attributes of a stream.  The first setter that failed decides what status() and creating say. */
class attributes {
public:
	attributes() { keep(posix_trace_attr_init(&attr_)); }
	attributes &name(const char *name) { return keep(posix_trace_attr_setname(&attr_, name)); }
	attributes &size(std::size_t bytes)
	{
		return keep(posix_trace_attr_setstreamsize(&attr_, bytes));
	}
	attributes &data_size(std::size_t bytes)
	{
		return keep(posix_trace_attr_setmaxdatasize(&attr_, bytes));
	}
	attributes &when_full(full policy)
	{
		return keep(posix_trace_attr_setstreamfullpolicy(&attr_, static_cast<int>(policy)));
	}
#if _PXT_UNIT_TOLOG
	attributes &log_size(std::size_t bytes)
	{
		return keep(posix_trace_attr_setlogsize(&attr_, bytes));
	}
	attributes &when_full(log_full policy)
	{
		return keep(posix_trace_attr_setlogfullpolicy(&attr_, static_cast<int>(policy)));
	}
#endif
	error status() const { return first_; }
	/* For what stands in trace_np.h alone. */
	trace_attr_t *native() { return &attr_; }
	const trace_attr_t *native() const { return &attr_; }

private:
	attributes &keep(int number)
	{
		if (!first_ && number != 0)
			first_ = error(number);
		return *this;
	}

	trace_attr_t attr_;
	error first_;
};
#endif

/* ---- Events that are read (units On-Line and Log Retrieval) ---- */

#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL

using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/* A field of an event's data. */
class field_value {
public:
	field_value(const posix_trace_field_np &field, const unsigned char *data)
	    : field_(field), data_(data)
	{
	}
	std::string_view name() const { return field_.posix_name_np; }
	bool is_text() const { return field_.posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP; }
	bool is_float() const { return field_.posix_kind_np == POSIX_TRACE_FIELD_FLOAT_NP; }
	std::uint64_t as_unsigned() const { return field_.posix_value_np.posix_u_np; }
	std::int64_t as_signed() const { return field_.posix_value_np.posix_i_np; }
	double as_double() const { return field_.posix_value_np.posix_f_np; }
	std::string_view as_text() const
	{
		return { reinterpret_cast<const char *>(data_) + field_.posix_offset_np,
			field_.posix_bytes_np };
	}

private:
	posix_trace_field_np field_;
	const unsigned char *data_;
};

/* An event, as long as its range is at it. */
class event {
public:
	event(trace_id_t trid, const posix_trace_eventview_np &view) : trid_(trid), view_(&view) {}
	trace_event_id_t type() const { return view_->posix_event_id_np; }
	/* Of a type that the program has named. */
	bool is_named() const { return type() > unnamed_event; }
	std::int64_t ns() const { return view_->posix_ns_np; }
	time_point time() const { return time_point(std::chrono::nanoseconds(ns())); }
	int pid() const { return view_->posix_pid_np; }
	int cpu() const { return view_->posix_cpu_np; }
	bool cut() const { return view_->posix_cut_np != 0; }
	std::uint64_t lost_before() const { return view_->posix_lost_before_np; }
	std::uint32_t thread_entry() const { return view_->posix_thread_entry_np; }
	const void *address() const { return view_->posix_prog_address_np; }
	std::string_view data() const
	{
		return { static_cast<const char *>(view_->posix_data_np), view_->posix_bytes_np };
	}
	/* Calls @look with each field, a field_value. */
	template <class Look> void fields(Look look) const
	{
		char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
		posix_trace_field_np one;
		std::size_t cursor = 0;

		if (posix_trace_eventid_getformat_np(trid_, type(), format, sizeof(format)) != 0)
			return;
		while (posix_trace_field_next_np(format, view_->posix_data_np,
		           view_->posix_bytes_np, 0, &cursor, &one, sizeof(one)) == 0)
			look(field_value(
			    one, static_cast<const unsigned char *>(view_->posix_data_np)));
	}
	const posix_trace_eventview_np &native() const { return *view_; }

private:
	trace_id_t trid_;
	const posix_trace_eventview_np *view_;
};

/*
 * Events of a log, or of a stream without log: those that are there, in their order.  One loop at
 * a time:
 *
 *	auto events = log.events();
 *	for (auto event : events)
 *		...
 *	if (auto failed = events.failed())
 *
 * Data is not copied: an event, and what it handed out, is good until the next step of the loop.
 */
class event_range {
public:
	class iterator {
	public:
		using iterator_category = std::input_iterator_tag;
		using value_type = event;
		using difference_type = std::ptrdiff_t;
		using pointer = void;
		using reference = event;

		iterator() = default;
		explicit iterator(event_range *range) : range_(range) { step(); }
		event operator*() const
		{
			return event(range_->trid_, range_->views_[range_->at_]);
		}
		iterator &operator++()
		{
			range_->at_++;
			step();
			return *this;
		}
		void operator++(int) { ++*this; }
		friend bool operator==(const iterator &one, const iterator &other)
		{
			return one.range_ == other.range_;
		}
		friend bool operator!=(const iterator &one, const iterator &other)
		{
			return one.range_ != other.range_;
		}

	private:
		void step()
		{
			if (!range_->fill())
				range_ = nullptr;
		}

		event_range *range_ = nullptr; /* NULL: the end */
	};

	explicit event_range(trace_id_t trid) : trid_(trid) {}
	event_range(const event_range &) = delete;
	event_range &operator=(const event_range &) = delete;
	iterator begin() { return iterator(this); }
	iterator end() { return iterator(); }
	/* Why the last loop ended before the end. */
	error failed() const { return failed_; }

private:
	bool fill()
	{
		if (at_ < count_)
			return true;
		at_ = count_ = 0;
		failed_ = error(posix_trace_getnext_events_np(
		    trid_, views_.data(), sizeof(views_[0]), views_.size(), &count_));
		return count_ > 0;
	}

	trace_id_t trid_;
	error failed_;
	std::size_t at_ = 0;
	std::size_t count_ = 0;
	std::array<posix_trace_eventview_np, 64> views_{};
};
#endif

/* The name of a type. */
class type_name {
public:
	type_name(trace_id_t trid, trace_event_id_t type)
	{
		if (posix_trace_eventid_get_name(trid, type, name_) != 0)
			name_[0] = '\0';
	}
	const char *c_str() const { return name_; }
	operator std::string_view() const { return name_; }
	friend bool operator==(const type_name &one, std::string_view other)
	{
		return one.name_ == other;
	}

private:
	char name_[TRACE_EVENT_NAME_MAX + 1] = {};
};

/* ---- Owners ---- */

namespace detail {

/* An identifier that is given back once.  @End gives it back. */
template <int (*End)(trace_id_t)> class owner {
public:
	explicit owner(trace_id_t trid) : trid_(trid) {}
	owner(owner &&other) noexcept : trid_(other.release()) {}
	owner &operator=(owner &&other) noexcept
	{
		if (this != &other) {
			(void)give_back();
			trid_ = other.release();
		}
		return *this;
	}
	owner(const owner &) = delete;
	owner &operator=(const owner &) = delete;
	~owner() { (void)give_back(); }
	/* For the functions of trace.h. */
	trace_id_t id() const { return trid_; }
	/* It is the caller's from now on. */
	trace_id_t release() { return std::exchange(trid_, 0); }
	type_name name(trace_event_id_t type) const { return type_name(trid_, type); }

protected:
	error give_back() { return trid_ ? error(End(release())) : error(); }

private:
	trace_id_t trid_;
};

/* A descriptor for as long as a call needs it. */
class descriptor {
public:
	descriptor(const char *path, int flags) : number_(::open(path, flags | O_CLOEXEC, 0666)) {}
	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;
	~descriptor()
	{
		if (number_ >= 0)
			(void)::close(number_);
	}
	int number() const { return number_; }

private:
	int number_;
};

} /* namespace detail */

#if _PXT_UNIT_CORE && (_PXT_UNIT_ONLINE || _PXT_UNIT_TOLOG)
/* A stream of this process; the end of its owner shuts it down, which completes its log. */
class stream : public detail::owner<posix_trace_shutdown> {
public:
	using owner::owner;

#if _PXT_UNIT_ONLINE
	static result<stream> create(const attributes &attr = attributes())
	{
		trace_id_t trid = 0;

		if (attr.status())
			return attr.status();
		if (error failed{ posix_trace_create(0, attr.native(), &trid) })
			return failed;
		return stream(trid);
	}
#endif
#if _PXT_UNIT_TOLOG
	/* @file_desc stays the caller's. */
	static result<stream> create_with_log(int file_desc, const attributes &attr = attributes())
	{
		trace_id_t trid = 0;

		if (attr.status())
			return attr.status();
		if (error failed{ posix_trace_create_withlog(0, attr.native(), file_desc, &trid) })
			return failed;
		return stream(trid);
	}
	/* The file is made, or emptied. */
	static result<stream> create_with_log(
	    const char *path, const attributes &attr = attributes())
	{
		const detail::descriptor file(path, O_RDWR | O_CREAT | O_TRUNC);

		if (file.number() < 0)
			return error(errno);
		return create_with_log(file.number(), attr);
	}
	error flush() { return error(posix_trace_flush(id())); }
#endif
	error start() { return error(posix_trace_start(id())); }
	error stop() { return error(posix_trace_stop(id())); }
	error clear() { return error(posix_trace_clear(id())); }
	/* As the end of the owner, with its error. */
	error shutdown() { return give_back(); }
	result<posix_trace_status_info> status() const
	{
		posix_trace_status_info told;

		if (error failed{ posix_trace_get_status(id(), &told) })
			return failed;
		return told;
	}
#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE
	/* What the stream holds now, taken out of it; a stream with log has none (EINVAL). */
	event_range events() { return event_range(id()); }
#endif
};
#endif

#if _PXT_UNIT_LOGRETRIEVAL
/* A log that is open for reading. */
class log : public detail::owner<posix_trace_close> {
public:
	using owner::owner;

	/*
	 * @why: says what is wrong with the log, and where; may be NULL.
	 * @flags: POSIX_TRACE_OPEN_..._NP.
	 */
	static result<log> open(
	    int file_desc, posix_trace_logerror_np *why = nullptr, int flags = 0)
	{
		trace_id_t trid = 0;

		if (error failed{ posix_trace_log_open_np(
		        &file_desc, 1, flags, &trid, why, sizeof(*why)) })
			return failed;
		return log(trid);
	}
	static result<log> open(const char *path, posix_trace_logerror_np *why = nullptr)
	{
		const detail::descriptor file(path, O_RDONLY);

		if (file.number() < 0)
			return error(errno);
		return open(file.number(), why);
	}
	/* One that is still being written, or whose writer died. */
	static result<log> open_growing(int file_desc, posix_trace_logerror_np *why = nullptr)
	{
		return open(file_desc, why, POSIX_TRACE_OPEN_GROWING_NP);
	}
	/* From where the last loop ended; rewind() goes back to the oldest. */
	event_range events() { return event_range(id()); }
	error rewind() { return error(posix_trace_rewind(id())); }
	/* What was lost is in it (posix_lost_np). */
	result<posix_trace_loginfo_np> info() const
	{
		posix_trace_loginfo_np told;

		if (error failed{ posix_trace_log_getinfo_np(id(), &told, sizeof(told)) })
			return failed;
		return told;
	}
	/* @entry: of an event's thread_entry(). */
	std::optional<posix_trace_logthread_np> thread(std::uint32_t entry) const
	{
		posix_trace_logthread_np told;

		if (posix_trace_log_getthread_np(id(), entry, &told, sizeof(told)) != 0)
			return std::nullopt;
		return told;
	}
};
#endif

} /* namespace posix_trace */

#endif
