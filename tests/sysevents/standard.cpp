// SPDX-License-Identifier: MIT
//
// standard.cpp - C++'s own locks and threads (tool/wrap.sh): 8 threads add up under a mutex, a
// condition variable times out, a call_once runs once.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

int main()
{
	std::mutex mutex;
	std::condition_variable changed;
	std::once_flag once;
	std::vector<std::thread> threads;
	int sum = 0;

	for (int i = 0; i < 8; i++)
		threads.emplace_back([&] {
			std::call_once(once, [&] { sum += 1000; });
			for (int j = 0; j < 100; j++) {
				std::lock_guard<std::mutex> lock(mutex);
				sum++;
			}
			changed.notify_one();
			try {
				throw std::runtime_error("out of a thread's function's function");
			} catch (const std::exception &) {
			}
		});
	for (auto &thread : threads)
		thread.join();
	std::unique_lock<std::mutex> lock(mutex);
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
	bool late = !changed.wait_until(lock, end, [] { return false; });
	std::cout << sum << (late ? " late" : "") << std::endl;
	return 6;
}
