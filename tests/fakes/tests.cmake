# SPDX-License-Identifier: MIT
#
# The port, and the fakes that stand before it.

ptrace_test(port NEEDS CORE SOURCES test_port.c)
ptrace_test(port_host NEEDS TOLOG POLICY_FLUSH SOURCES test_port_host.c
	LIBRARIES -Wl,--build-id=0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20)
ptrace_test(port_mutex NEEDS CORE SOURCES test_mutex.c)
ptrace_test(fakes FAKES NEEDS TOLOG POLICY_FLUSH SOURCES test_fakes.c)
